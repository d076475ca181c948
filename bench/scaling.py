#!/usr/bin/python3
"""Two processes of one thread each against one process of two threads, on the same work, and what a step exchanges.

    tools/setup.sh --mpi
    cmake --preset release && cmake --build --preset release --target ort-ed
    bench/scaling.py                  # all tasks; one line each
    bench/scaling.py train-mlp score  # some
    bench/scaling.py --rounds 5

The sides take turns; the best of the rounds counts. Both do the same steps with the same shards, and have the same result to the
last bit, which is checked. What the start of a command costs is taken away: rates are those between two lengths of the same work.
"""
import argparse
import filecmp
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("ORT_ED", str(ROOT / "build" / "release" / "tools" / "ort-ed"))
SIDES = {"1 process x 2 threads": [], "2 processes x 1 thread": ["mpirun", "-n", "2"]}
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(launcher, words):
    start = time.monotonic()
    done = subprocess.run([*launcher, COMMAND, *words], capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return time.monotonic() - start, done.stdout


def seconds_between(launcher, words, short, long, results):
    """Of the work that `long` has more than `short`."""
    times = []
    for options in (short, long):
        seconds, text = run(launcher, [*words, *options])
        times.append(seconds)
    results.append(text)
    return times[1] - times[0]


class Train:
    def __init__(self, folder, model, shards):
        self.folder, self.model, self.shards = folder, model, shards

    def rate(self, side, launcher, results):
        run_folder = self.folder / f"run-{side[0]}"
        words = ["train", "--data", str(self.folder / "images.npy"), "-o", str(run_folder), "--force", *self.model,
                 "--shards", str(self.shards), "--validate-every", "0", "--checkpoint-every", "0", "--log-every", "10"]
        words += ["--threads", "1" if launcher else "2"]
        run(launcher, words)
        results.append((run_folder / "model.onnx").read_bytes())
        lines = [json.loads(line) for line in (run_folder / "metrics.jsonl").read_text().splitlines()]
        rates = sorted(line["steps_per_second"] for line in lines if "steps_per_second" in line)
        return rates[len(rates) // 2]


class LogZ:
    def __init__(self, model, temperatures):
        self.model, self.temperatures = model, temperatures

    def rate(self, side, launcher, results):
        words = ["logz", str(self.model), "--estimator", "ais", "--chains", "256", "--json", "--threads",
                 "1" if launcher else "2"]
        few, many = self.temperatures
        seconds = seconds_between(launcher, words, ["--temperatures", str(few)], ["--temperatures", str(many)], results)
        return (many - few) / seconds


class Score:
    def __init__(self, folder, model):
        self.folder, self.model = folder, model

    def rate(self, side, launcher, results):
        output = self.folder / f"energies-{side[0]}.npy"
        words = ["score", str(self.model), str(self.folder / "many.npy"), "--json", "-o", str(output), "--threads",
                 "1" if launcher else "2"]
        rate = json.loads(run(launcher, words)[1])["rows_per_second"]
        results.append(output.read_bytes())
        return rate


def prepare(folder):
    def npy(path, rows, columns, seed):
        import random
        numbers = random.Random(seed)
        header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
        header += " " * (63 - (10 + len(header)) % 64) + "\n"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            for _ in range(rows):
                word = numbers.getrandbits(columns) & numbers.getrandbits(columns)
                file.write(bytes(word >> i & 1 for i in range(columns)))
    npy(folder / "images.npy", 2000, 784, 1)
    few = (folder / "images.npy").read_bytes()
    head, body = few[:128], few[128:]
    repeats = 40
    (folder / "many.npy").write_bytes(head.replace(b"(2000, 784), }   ", b"(%d, 784), }  " % (2000 * repeats)) + body * repeats)
    run([], ["new", "mlp", "-D", "784", "--hidden", "256,256", "-o", str(folder / "mlp.onnx")])
    run([], ["new", "ising", "-D", "400", "-o", str(folder / "ising.onnx")])


def tasks(folder):
    mlp = ["--model", "mlp", "--hidden", "512,512", "--steps", "200", "--method", "bernoulli", "--base", "none"]
    resnet = ["--model", "resnet", "--image-shape", "28x28", "--steps", "30", "--batch-size", "64", "--method", "bernoulli",
              "--base", "none"]
    return {"train-mlp, 2 shards": Train(folder, mlp, 2), "train-mlp, 8 shards": Train(folder, mlp, 8),
            "train-resnet, 2 shards": Train(folder, resnet, 2), "train-resnet, 8 shards": Train(folder, resnet, 8),
            "ais-mlp": LogZ(folder / "mlp.onnx", (2, 8)), "ais-ising": LogZ(folder / "ising.onnx", (1000, 6000)),
            "score": Score(folder, folder / "mlp.onnx")}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("task", nargs="*")
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        for title, task in tasks(folder).items():
            if options.task and not any(title.startswith(each) for each in options.task):
                continue
            best, results = {}, []
            for _ in range(options.rounds):
                for side, launcher in SIDES.items():
                    best[side] = max(best.get(side, 0), task.rate(side, launcher, results))
            same = all(result == results[0] for result in results)
            one, two = best.values()
            print(f"{title:24} {one:10.4g} /s  {two:10.4g} /s  ratio {two / one:.3f}  {'same bits' if same else 'OTHER BITS'}",
                  flush=True)


if __name__ == "__main__":
    sys.exit(main())
