#!/usr/bin/python3
"""ort-ed and its peers side by side on the same work: interleaved in one run, the fastest of several.

    tools/setup.sh --bench                     # brings PyTorch, JAX, D-Wave's samplers and ONNX Runtime's training release
    cmake --preset release && cmake --build --preset release --target pair_worker
    bench/peers.py                             # all tasks; docs/results/peers.md and the README's table
    bench/peers.py train-mlp train-resnet      # some, to the terminal
    bench/peers.py --more gibbs-ising          # further rounds of some, for the page and the table
    bench/peers.py --check                     # whether all sides do the same work
    bench/peers.py --render                    # only writes the page and the table, from docs/results/data/peers.json

Peers that are not installed are named and left out. Each side runs with one thread and with all cores, all sides alike: a
program's own setting does not reach every library of matrix products, so that these are held to the same number by their
environment variables. "Best" compares the best of either side: of a peer its variants, such as PyTorch eager, with channels last and
compiled. The fraction of peak is useful operations (a convolution counted by its definition) against the rate of matrix tiles
in cache on all cores, measured in the same run.

The check compares with ort-ed: losses of five training steps on given rows, energies of 16 rows, and what energies of chains are on average after some sweeps, within four standard errors.
"""
import argparse
import datetime
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench" / "peers"), str(ROOT / "bench")]
import machines  # noqa: E402
import page  # noqa: E402
import sides  # noqa: E402

NOTHING_TO_CHECK = 77


def measure(task, options, peers):
    workers = [worker for side, command in sides.commands(task, options.build, peers).items()
               for threads in sorted({1, os.cpu_count()}) if (worker := sides.start(side, command, threads))]
    for worker in workers:
        worker.ask("steps", 2)  # warms up, and compiles what is compiled
    peak = 0.0
    for _ in range(options.rounds):
        peak = max(peak, float(workers[0].ask("peak", os.cpu_count())[0]))
        for worker in workers:
            worker.measure(sides.TASKS[task].steps)
    for worker in workers:
        worker.stop()
    return {"task": task, "rounds": options.rounds, "sides": [[w.side, w.setting, w.best] for w in workers], "peak_gflops": peak}


def together(old, new):
    """The fastest of both; sides that one of them has not are left out, as they had fewer rounds."""
    known = {(side, setting): seconds for side, setting, seconds in old["sides"]}
    both = [[side, setting, min(seconds, known[side, setting])] for side, setting, seconds in new["sides"] if (side, setting) in known]
    return {"task": new["task"], "rounds": old["rounds"] + new["rounds"], "sides": both,
            "peak_gflops": max(old["peak_gflops"], new["peak_gflops"])}


def show(result):
    print(sides.TASKS[result["task"]].title)
    for side, setting, seconds in result["sides"]:
        print(f"  {side:40s}{setting:12s}{1e3 * seconds:10.3f} ms")
    peer = page.strongest(result)
    print(f"  {page.ratio(result):.2f} times {peer[1] if peer else 'nothing'} {page.peak_share(result)}", flush=True)


def recorded(head):
    """Results in the file by their task, if they are of this machine and these versions."""
    data = json.loads(page.DATA.read_text()) if page.DATA.exists() else {}
    same = all(data.get(key) == value for key, value in head.items())
    return {result["task"]: result for result in data["results"]} if same else {}


def record(head, found):
    results = [found[task] for task in sides.TASKS if task in found]
    page.DATA.write_text(json.dumps({"date": datetime.date.today().isoformat(), **head, "results": results}, indent=1) + "\n")


def agree(task, ours, values):
    if len(ours) != len(values) or not values:
        return False
    if task.startswith(("gibbs-", "ais-")):
        return abs(ours[0] - values[0]) < 4 * (ours[1]**2 + values[1]**2)**0.5
    return all(abs(a - b) < 2e-4 * max(1, abs(a)) for a, b in zip(ours, values))


def check(task, options, peers):
    """Says what each side found."""
    good, ours = True, None
    for side, command in sides.commands(task, options.build, peers).items():
        worker = sides.start(side, command, 1)
        if not worker:
            good = False
            continue
        values = worker.check()
        worker.stop()
        ours = ours or values
        same = agree(task, ours, values)
        good &= same
        print(f"{task:14s}{side:36s}{'as ort-ed' if same else 'DIFFERS  '} {' '.join(f'{v:.4f}' for v in values[:5])}", flush=True)
    return good


def check_all(tasks, options, peers):
    if not peers:
        print("SKIPPED: no peer is installed; tools/setup.sh --bench brings them")
        return NOTHING_TO_CHECK
    checked = [check(task, options, peers) for task in tasks if not task.startswith("pcd-")]
    return 0 if all(checked) else 1


def measure_all(tasks, options, peers):
    head = {"machine": machines.description(), "versions": peers}
    found = recorded(head) if options.more else {}
    for task in tasks:
        result = measure(task, options, peers)
        found[task] = together(found[task], result) if task in found else result
        show(found[task])
        if options.more or not options.tasks:
            record(head, found)
            page.write()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(sides.TASKS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--more", action="store_true", help="record the tasks named, with the rounds that were recorded before")
    parser.add_argument("--check", action="store_true", help="measure nothing, compare what the sides compute")
    parser.add_argument("--render", action="store_true", help="measure nothing, write the page and the table")
    options = parser.parse_args()
    if unknown := set(options.tasks) - set(sides.TASKS):
        parser.error(f"unknown task '{unknown.pop()}'; there are {', '.join(sides.TASKS)}")
    if options.render:
        return page.write()
    peers = sides.installed()
    for peer in set(sides.PEERS) - set(peers):
        print(f"{peer} is not installed (tools/setup.sh --bench): its rows are absent")
    try:
        return (check_all if options.check else measure_all)(options.tasks or list(sides.TASKS), options, peers)
    except sides.Failed as failure:
        return f"{failure}; bench/peers.py --help says how to build it"


sys.exit(main())
