#!/usr/bin/python3
"""Training steps of ort-ed and of PyTorch side by side: interleaved in one run, the fastest of several.

    tools/setup.sh --bench
    cmake --preset release && cmake --build --preset release --target train_step_worker
    bench/train_step_vs_torch.py [mlp] [resnet] [--rounds 5] [--build build/release] [--json]

Both sides do the same work: draw Bernoulli negatives, energies of positives and negatives, loss, gradients, clipping
(MLP), Adam, moving average. The ratio is between the best setting of each side: PyTorch runs with one thread, with all
cores, and with one thread of its own but all cores for OpenBLAS, which PyTorch's setting does not reach. The fraction of peak
is useful operations (a convolution counted by its definition) against the rate of matrix tiles in cache on all
cores, measured in the same run.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"  # the system's, which has Debian's PyTorch


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


NETWORKS = {
    "mlp": {"flops": mlp_flops(), "steps": 10, "goal": 2.0,
            "title": "MLP 32-256-256-256-1, batch 128, M = 32"},
    "resnet": {"flops": resnet_flops(), "steps": 2, "goal": 1.5,
               "title": "ResNet-64 on 28 x 28, batch 10, M = 32"},
}


class Worker:
    """A process that takes steps on command, with fixed numbers of threads."""

    def __init__(self, side, command, threads, blas_threads=None):
        self.side, self.best = side, float("inf")
        self.setting = f"{threads} thread{'s' * (threads > 1)}"
        environment = dict(os.environ)
        if blas_threads:  # read once, when the library is loaded
            environment["OPENBLAS_NUM_THREADS"] = str(blas_threads)
            if blas_threads != threads:
                self.setting += f", OpenBLAS {blas_threads}"
        self.process = subprocess.Popen(command, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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


def workers(network, build):
    cores = os.cpu_count()
    ours = str(build / "bench" / "train_step_worker")
    torch = [PYTHON, str(ROOT / "bench" / "peers" / "train_step_torch.py"), network]
    for threads in sorted({1, cores}):
        yield Worker("ort-ed", [ours, network], threads)
        yield Worker("ort-ed, standard operators", [ours, network, "--standard"], threads)
    for threads, blas_threads in sorted({(1, 1), (1, cores), (cores, cores)}):
        yield Worker("PyTorch", torch, threads, blas_threads)
        if network == "resnet":
            yield Worker("PyTorch, channels last", torch + ["--channels-last"], threads, blas_threads)


def measure(network, build, rounds):
    task = NETWORKS[network]
    sides = list(workers(network, build))
    peak = 0.0
    for _ in range(rounds):
        peak = max(peak, float(sides[0].ask("peak", os.cpu_count())[0]))
        for side in sides:
            side.measure(task["steps"])
    for side in sides:
        side.stop()
    ours = min(s.best for s in sides if s.side == "ort-ed")
    torch = min(s.best for s in sides if s.side.startswith("PyTorch"))
    return {"network": network, "title": task["title"], "ratio": torch / ours, "goal": task["goal"],
            "gflops": task["flops"] / ours / 1e9, "peak_gflops": peak,
            "seconds": [[s.side, s.setting, s.best] for s in sides]}


def show(result):
    print(result["title"])
    for side, setting, seconds in result["seconds"]:
        print(f"  {side:28s}{setting:24s}{1e3 * seconds:9.1f} ms a step")
    print(f"  {result['ratio']:.2f} times PyTorch's steps per second (goal {result['goal']}); "
          f"{result['gflops']:.0f} of {result['peak_gflops']:.0f} GFLOP/s, "
          f"{100 * result['gflops'] / result['peak_gflops']:.0f} % of peak")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for network in options.networks:
        if network not in NETWORKS:
            parser.error(f"unknown network '{network}'; there are {', '.join(NETWORKS)}")
        result = measure(network, options.build, options.rounds)
        print(json.dumps(result)) if options.json else show(result)


main()
