#!/usr/bin/python3
"""ort-ed and PyTorch side by side on the same work: interleaved in one run, the fastest of several.

    tools/setup.sh --bench
    cmake --preset release && cmake --build --preset release --target pair_worker
    bench/peers.py                             # all pairs; docs/results/peers.md and the README's table
    bench/peers.py train-mlp train-resnet      # some, to the terminal
    bench/peers.py --render                    # only writes the page and the table, from docs/results/data/peers.json

Each side runs with one thread and with all cores, both sides alike: PyTorch's own setting does not reach every library of
matrix products, so that these are held to the same number by their environment variables. "Best" compares the best of
either side: of PyTorch eager, with channels last, and compiled (torch.compile) where a variant says so. The fraction of peak
is useful operations (a convolution counted by its definition) against the rate of matrix tiles in cache on all cores,
measured in the same run.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "results" / "data" / "peers.json"
CACHE = pathlib.Path(os.environ.get("ORT_ED_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ort-ed")
PYTHON = str(CACHE / "torch" / "bin" / "python")  # with PyTorch: tools/setup.sh --bench; or --python
sys.path.insert(0, str(ROOT / "bench"))
from paper import experiment, markdown  # noqa: E402

def mlp_flops():
    rows, layers = 128 * 33, [(32, 256), (256, 256), (256, 256), (256, 1)]
    products = sum(a * b for a, b in layers)
    return 2 * rows * (3 * products - 32 * 256)  # the data need no gradient


def resnet_flops():
    rows, c = 10 * 33, 64
    first = 9 * c * 28 * 28
    down = [(9 * c * c + 9 * c * c + c * c) * side * side for side in (14, 7)]
    same = 6 * 2 * 9 * c * c * 7 * 7
    return 2 * rows * (3 * (first + sum(down) + same + c) - first)


RESNET_VARIANTS = {"": [], ", channels last": ["--channels-last"], ", compiled": ["--compiled"],
                   ", compiled, channels last": ["--compiled", "--channels-last"]}
# Title, steps of one measurement, variants of PyTorch (options and what they are), and floating-point operations if counted.
TASKS = {
    "train-mlp": ("training step, MLP 32-256-256-256-1, batch 128, M = 32", 10, {"": []}, mlp_flops()),
    "train-resnet": ("training step, ResNet-64 on 28 x 28, batch 10, M = 32", 2,
                     {"": [], ", channels last": ["--channels-last"]}, resnet_flops()),
    "pcd-gwg": ("PCD step, ResNet-64 on 28 x 28, batch 16, 10 steps of GWG", 2, RESNET_VARIANTS, None),
    "pcd-dula": ("PCD step, ResNet-64 on 28 x 28, batch 16, 10 steps of DULA", 2, RESNET_VARIANTS, None),
    "score-mlp": ("scoring 16,384 rows, MLP", 5, {"": []}, None),
    "score-resnet": ("scoring 512 rows, ResNet-64", 2, {"": [], ", channels last": ["--channels-last"]}, None),
    "gibbs-ising": ("Gibbs sweep of 2,000 chains, Ising 10 x 10", 2, {"": [], ", keeping energies": ["--cached"]}, None),
    "gibbs-mlp": ("Gibbs sweep of 1,000 chains, MLP", 2, {"": [], ", keeping energies": ["--cached"]}, None),
    "ais-mlp": ("AIS temperature of 1,000 chains, MLP", 2, {"": [], ", keeping energies": ["--cached"]}, None),
}


class Worker:
    """A process that takes steps on command, with fixed numbers of threads."""

    def __init__(self, side, command, threads):
        self.side, self.best = side, float("inf")
        self.setting = f"{threads} thread{'s' * (threads > 1)}"
        environment = dict(os.environ)
        for library in ("OPENBLAS", "MKL", "OMP"):  # read once, when the library is loaded
            environment[f"{library}_NUM_THREADS"] = str(threads)
        try:
            self.process = subprocess.Popen(command, env=environment, text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except FileNotFoundError as error:
            sys.exit(f"there is no {error.filename}; this page's head says how to build it and to install PyTorch: "
                     "bench/peers.py --help")
        self.ask("threads", threads)
        self.ask("steps", 1)  # warm-up

    def ask(self, command, count):
        self.process.stdin.write(f"{command} {count}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.side} stopped; is it built and is PyTorch installed (tools/setup.sh --bench)?")
        return answer.split()

    def measure(self, steps):
        self.best = min(self.best, float(self.ask("steps", steps)[0]))

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def workers(task, build, python):
    cores = os.cpu_count()
    ours = str(build / "bench" / "pair_worker")
    torch = [python, str(ROOT / "bench" / "peers" / "torch_worker.py"), task]
    for threads in sorted({1, cores}):
        yield Worker("ort-ed", [ours, task], threads)
        if task.startswith("train-"):
            yield Worker("ort-ed, standard operators", [ours, task, "--standard"], threads)
    for variant, options in TASKS[task][2].items():
        for threads in sorted({1, cores}):
            yield Worker("PyTorch" + variant, torch + options, threads)


def measure(task, options):
    steps = TASKS[task][1]
    sides = list(workers(task, options.build, options.python))
    peak = 0.0
    for _ in range(options.rounds):
        peak = max(peak, float(sides[0].ask("peak", os.cpu_count())[0]))
        for side in sides:
            side.measure(steps)
    for side in sides:
        side.stop()
    return {"task": task, "sides": [[s.side, s.setting, s.best] for s in sides], "peak_gflops": peak}


def best(result, name, setting=None):
    return min(seconds for side, at, seconds in result["sides"]
               if (side == name or side.startswith(f"{name},") and name == "PyTorch") and setting in (None, at))


def ratio(result, setting=None):
    return best(result, "PyTorch", setting) / best(result, "ort-ed", setting)


def peak_share(result):
    flops = TASKS[result["task"]][3]
    if not flops:
        return ""
    rate, peak = flops / best(result, "ort-ed") / 1e9, result["peak_gflops"]
    return f"{rate:.0f} of {peak:.0f} GFLOP/s, {100 * rate / peak:.0f} %"


def show(result):
    print(TASKS[result["task"]][0])
    for side, setting, seconds in result["sides"]:
        print(f"  {side:28s}{setting:24s}{1e3 * seconds:10.2f} ms")
    print(f"  {ratio(result):.2f} times PyTorch {peak_share(result)}", flush=True)


def settings():
    cores = os.cpu_count()
    return ["1 thread"] + [f"{cores} threads"] * (cores > 1)


def milliseconds(seconds):
    return f"{1e3 * seconds:,.{max(0, 3 - len(str(int(1e3 * seconds))))}f} ms"


def table(results):
    rows = [[TASKS[r["task"]][0], milliseconds(best(r, "ort-ed")), milliseconds(best(r, "PyTorch"))]
            + [f"{ratio(r, s):.3g}" for s in settings()] + [f"**{ratio(r):.3g}**", peak_share(r)] for r in results]
    return markdown.table(["", "ort-ed, best", "PyTorch, best", *(f"times, {s}" for s in settings()), "times, best to best",
                           "of peak"], rows)


def machine():
    """What the figures depend on: cores, their kind, their widest vectors and the cache that they share."""
    info = dict(line.split(":", 1) for line in subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines())
    value = {name.strip(): text.strip() for name, text in info.items()}
    vectors = next((v for v in ("avx512f", "avx2", "asimd") if v in value.get("Flags", "").split()), "no vectors")
    return (f"{experiment.machine()} (family {value.get('CPU family')}, model {value.get('Model')}, {vectors}, "
            f"{value.get('L3 cache', 'unknown').split(' (')[0]} of L3 cache)")


def torch_version(python):
    return subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True).stdout.strip()


def record(results, python):
    DATA.write_text(json.dumps({"date": datetime.date.today().isoformat(), "machine": machine(), "torch": torch_version(python),
                                "results": results}, indent=1) + "\n")


def write():
    data = json.loads(DATA.read_text())
    results = data["results"]
    provenance = (f"Measured {data['date']} on {data['machine']}, PyTorch {data['torch']}, by `bench/peers.py`: "
                  "interleaved, the fastest of several. \"Of peak\": operations by the layers' definition, against the rate of "
                  "ort-ed's own matrix tiles with everything in cache; convolutions by Winograd's algorithm take fewer operations than "
                  "their definition, so that theirs could exceed it.")
    details = "\n".join(f"| {TASKS[r['task']][0]} | {side} | {setting} | {1e3 * seconds:.2f} |"
                        for r in results for side, setting, seconds in r["sides"])
    markdown.write_page("peers", f"# ort-ed and PyTorch, side by side\n\n{provenance} \"Times\" is how many times as fast "
                        f"ort-ed is, with the same number of threads or each at its best.\n\n{table(results)}\n\n## Everything "
                        f"measured\n\n| | side | setting | ms |\n|---|---|---|---|\n{details}\n")
    readme = (ROOT / "README.md").read_text()
    begin, end = "<!-- peers: written by bench/peers.py -->", "<!-- peers end -->"
    if begin in readme:
        before, after = readme.split(begin)[0], readme.split(end)[1]
        (ROOT / "README.md").write_text(f"{before}{begin}\n{table(results)}\n\n{provenance}\n{end}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--python", default=PYTHON, help="a Python with PyTorch; that of tools/setup.sh --bench")
    parser.add_argument("--render", action="store_true", help="measure nothing, write the page and the table")
    options = parser.parse_args()
    if options.render:
        return write()
    results = []
    for task in options.tasks or TASKS:
        if task not in TASKS:
            parser.error(f"unknown task '{task}'; there are {', '.join(TASKS)}")
        results.append(measure(task, options))
        show(results[-1])
    if not options.tasks:
        record(results, options.python)
        write()


main()
