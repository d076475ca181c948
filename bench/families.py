#!/usr/bin/python3
"""Many families of networks, one training step each, in ort-ed and in PyTorch: interleaved in one run, the fastest of several.

    tools/setup.sh --bench                     # brings PyTorch
    cmake --preset release && cmake --build --preset release --target pair_worker
    bench/families.py                          # all families; docs/results/families.md
    bench/families.py lstm gru --no-record     # some, to the terminal; --no-compile is faster and leaves out torch.compile()
    bench/families.py lstm                     # measures some again, for the page
    bench/families.py --check                  # whether both sides do the same work
    bench/families.py --render                 # only writes the page, from docs/results/data/families.json

The networks (bench/peers/family_networks.py) are written in PyTorch as its users would; its own exporter makes the ONNX files that
ort-ed trains. A step is the same on both sides: Bernoulli noise for 32 negatives of each positive, energies, loss of energy
discrepancy, gradients, Adam, moving average of the weights. PyTorch runs eagerly and compiled, images also with channels last; its
Adam is the fused one. Times with one thread are processor time, else elapsed. Memory is what a process had resident at most beyond what it had with its libraries loaded.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench" / "peers"), str(ROOT / "bench")]
import family_page  # noqa: E402
import machines  # noqa: E402
import sides  # noqa: E402
from family_table import FAMILIES  # noqa: E402

PEER = "PyTorch"
WORKER = ROOT / "bench" / "peers" / "family_worker.py"
NOTHING_TO_CHECK = 77


def commands(family, model, options):
    """{side: command}."""
    entry = FAMILIES[family]
    found = {sides.OURS: [options.build / "bench" / "pair_worker", "train-file", model, entry.batch, *entry.frozen]}
    for variant, flags in (sides.IMAGES if entry.images else sides.COMPILED).items():
        if options.compile or "--compiled" not in flags:
            found[sides.name_of(PEER, variant)] = [sides.python_of(PEER), WORKER, family, *flags]
    return found


def model_of(family, folder):
    path = pathlib.Path(folder) / f"{family}.onnx"
    made = subprocess.run([sides.python_of(PEER), WORKER, family, "--write", path], capture_output=True, text=True)
    if made.returncode:
        raise sides.Failed(f"PyTorch cannot export {family}: {made.stderr.strip().splitlines()[-1]}")
    return path


def measure(family, model, options):
    workers = [worker for side, command in commands(family, model, options).items()
               for threads in options.threads or sorted({1, os.cpu_count()}) if (worker := sides.start(side, command, threads))]
    for worker in workers:
        worker.ask("steps", 3)  # warms up, and compiles what is compiled
    for _ in range(options.rounds):
        for worker in workers:  # other programs disturb the processor time of one thread little
            worker.measure(options.steps, "processor" if worker.setting == "1 thread" else "steps")
    found = []
    for worker in workers:
        peak, before = map(float, worker.ask("memory"))
        found.append([worker.side, worker.setting, worker.best, peak - before, peak])
        worker.stop()
    return {"family": family, "sides": found}


def show(result):
    print(FAMILIES[result["family"]].title)
    for side, setting, seconds, grown, peak in result["sides"]:
        print(f"  {side:40s}{setting:12s}{1e3 * seconds:10.3f} ms {grown:8.0f} MB")
    print("  times " + ", ".join(f"{family_page.ratio(result, at):.2f} ({at})" for at in family_page.settings([result])), flush=True)


def recorded(head):
    """Results in the file by their family, if they are of this machine and these versions."""
    data = json.loads(family_page.DATA.read_text()) if family_page.DATA.exists() else {}
    same = all(data.get(key) == value for key, value in head.items())
    return {result["family"]: result for result in data["results"]} if same else {}


def record(head, result):
    """Into the file, which others may have added to meanwhile."""
    found = recorded(head) | {result["family"]: result}
    results = [found[family] for family in FAMILIES if family in found]
    data = {"date": datetime.date.today().isoformat(), **head, "results": results}
    family_page.DATA.write_text(json.dumps(data, indent=1) + "\n")


def agree(ours, values):
    return len(ours) == len(values) > 0 and all(abs(a - b) < 2e-3 * max(1, abs(a)) for a, b in zip(ours, values))


def check(family, model, options):
    """Says what each side found: losses of five steps on given rows."""
    ours, good = None, True
    for side, command in commands(family, model, options).items():
        worker = sides.start(side, command, 1)
        values = worker.check() if worker else []
        if worker:
            worker.stop()
        ours = ours or values
        same = agree(ours, values)
        good &= same
        print(f"{family:14s}{side:36s}{'as ort-ed' if same else 'DIFFERS  '} {' '.join(f'{v:.4f}' for v in values)}", flush=True)
    return good


def run(families, options):
    versions = sides.installed()
    if PEER not in versions:
        print("SKIPPED: PyTorch is not installed; tools/setup.sh --bench brings it")
        return NOTHING_TO_CHECK
    head = {"machine": machines.description(), "versions": {PEER: versions[PEER]}}
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            model = model_of(family, folder)
            if options.check:
                good &= check(family, model, options)
                continue
            result = measure(family, model, options)
            show(result)
            if options.record:
                record(head, result)
                family_page.write()
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4, help="of a round")
    parser.add_argument("--threads", type=int, nargs="+", help="settings to measure; 1 and all cores unless given")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave out torch.compile()")
    parser.add_argument("--no-record", dest="record", action="store_false", help="to the terminal only")
    parser.add_argument("--check", action="store_true", help="measure nothing, compare what the sides compute")
    parser.add_argument("--render", action="store_true", help="measure nothing, write the page")
    options = parser.parse_args()
    if unknown := set(options.families) - set(FAMILIES):
        parser.error(f"unknown family '{unknown.pop()}'; there are {', '.join(FAMILIES)}")
    if options.render:
        return family_page.write()
    try:
        return run(options.families or list(FAMILIES), options)
    except sides.Failed as failure:
        return f"{failure}; bench/families.py --help says how to build it"


sys.exit(main())
