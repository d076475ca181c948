#!/usr/bin/python3
"""Two builds of ort-ed side by side on the same work: what changes cost, or gained, where all variables are binary.

    git worktree add ../before e982d36 && cd ../before && cmake --preset dev && cmake --build --preset dev --target ort-ed
    nice -n -10 taskset -c 1 bench/versions.py ../before/build/dev/tools/ort-ed build/dev/tools/ort-ed
    bench/versions.py OLD NEW --only 'gibbs*' --rounds 9

The older one makes models and rows. Both take turns with one thread, the newer one also with AVX2 only, and the least processor
time of each counts. A ratio below 1: the newer one takes less.
"""
import argparse
import fnmatch
import os
import pathlib
import shutil
import subprocess
import tempfile

ENERGIES = {"Ising": ["ising", "--image-shape", "10x10", "--init", "lattice", "--coupling", "0.1"],
            "RBM": ["rbm", "-D", "100", "--hidden", "100"], "MLP": ["mlp", "-D", "100", "--hidden", "256,256"]}


def sample(model, sampler, steps):
    return ["sample", f"{model}.onnx", "--sampler", sampler, "-n", "100", "--steps", str(steps), "-o", "drawn.npy"]


def anneal(model, temperatures):
    return ["logz", f"{model}.onnx", "--estimator", "ais", "--temperatures", str(temperatures), "--chains", "100"]


def train(model, method, steps):
    network = ENERGIES[model][:1] + [word for word in ENERGIES[model][1:] if model != "Ising"][2:]
    return ["train", "--data", "rows.npy", "--model", *network, "--method", method, "--steps", str(steps),
            "--validation-fraction", "0", "-o", "run"]


def score(model):
    return ["score", f"{model}.onnx", "rows.npy", "-o", "energies.npy"]


TASKS = {
    **{f"Gibbs, {model}": sample(model, "gibbs", steps) for model, steps in (("Ising", 60000), ("RBM", 100), ("MLP", 100))},
    **{f"GWG, {model}": sample(model, "gwg", steps) for model, steps in (("Ising", 8000), ("RBM", 4000), ("MLP", 3000))},
    **{f"tempering, {model}": sample(model, "tempering", steps) for model, steps in (("Ising", 3000), ("RBM", 10))},
    **{f"log Z, {model}": anneal(model, steps) for model, steps in (("Ising", 15000), ("RBM", 100), ("MLP", 100))},
    **{f"training, {method}, {model}": train(model, method, steps) for model, steps in (("Ising", 2000), ("RBM", 1500), ("MLP", 400))
       for method in ("bernoulli", "grid", "pool")},
    **{f"scoring, {model}": score(model) for model in ENERGIES},
}


def run(command, folder, instructions="avx512"):
    """Its processor time in seconds."""
    shutil.rmtree(pathlib.Path(folder) / "run", ignore_errors=True)
    environment = {**os.environ, "ORT_ED_INSTRUCTIONS": instructions}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{said}")
    return used.ru_utime + used.ru_stime


def prepare(ort_ed, folder):
    for name, energy in ENERGIES.items():
        run([ort_ed, "new", *energy, "-o", "plain.onnx"], folder)
        run([ort_ed, "export", "plain.onnx", "--with-gradient", "-o", f"{name}.onnx"], folder)
    run([ort_ed, "data", "ising", "--shape", "10x10", "--sigma", "0.1", "-n", "200000", "--steps", "500", "-o", "rows.npy"], folder)


def measure(task, old, new, rounds, folder):
    sides = [(old, "avx512"), (new, "avx512"), (new, "avx2")]
    times = [[run([ort_ed, *TASKS[task], "--threads", "1"], folder, set_) for ort_ed, set_ in sides] for _ in range(rounds)]
    before, after, avx2 = (min(side) for side in zip(*times))
    print(f"| {task} | {before:.2f} | {after:.2f} | {after / before:.2f} | {avx2 / before:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="tasks to run, e.g. 'Gibbs*'")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(options.old.resolve(), folder)
        print("| | before, s | now, s | ratio | with AVX2 |\n|---|---|---|---|---|")
        for task in fnmatch.filter(TASKS, options.only):
            measure(task, options.old.resolve(), options.new.resolve(), options.rounds, folder)


if __name__ == "__main__":
    main()
