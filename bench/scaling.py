#!/usr/bin/python3
"""Two processes of one thread each against one process of two threads, on the same work, and what a step exchanges.

    tools/setup.sh --mpi
    cmake --preset release && cmake --build --preset release --target ort-ed
    bench/scaling.py                  # all tasks; one line each
    bench/scaling.py train-mlp score  # some
    bench/scaling.py --rounds 5
    bench/scaling.py --extrapolate    # the table of docs/scaling.md, by a model: nothing is run

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
            "ais-mlp": LogZ(folder / "mlp.onnx", (1, 4)), "ais-ising": LogZ(folder / "ising.onnx", (500, 2500)),
            "score": Score(folder, folder / "mlp.onnx")}


# Seconds of a step of one process with two cores: the first two as docs/results/peers.md has them measured; the third by six operations
# for each parameter and row at the rate that the first reaches (376 GFLOP/s), 1,280 rows. Then parameters, and rows of the data in a batch: as many processes can share it.
MODELS = {"MLP 32-256-256-256-1, 128 x 33 rows": (9.23e-3, 140_289, 128),
          "ResNet-64 on 28 x 28, 10 x 33 rows": (177e-3, 599_873, 10),
          "100 million parameters, 256 x 5 rows": (6 * 1e8 * 1280 / 376e9, 100_000_000, 256)}
ALPHA, BETA = 5e-6, 1 / 12.5e9  # of a message and of a byte: a network of 100 Gbit/s
UPDATE = 40 / 10e9  # of a parameter: bytes that Adam and the average read and write, at 10 GB/s


def seconds_of_step(compute, parameters, processes, work):
    """Two exchanges of the gradient, its sum and the whole, and one of a few bytes with sizes before it."""
    messages = 4 * (processes - 1) * ALPHA
    bytes_sent = 8 * parameters * (processes - 1) / processes
    return compute * work / processes + messages + bytes_sent * BETA + parameters * UPDATE


def extrapolate():
    print("| model | processes | same batch: ms | times as fast | batch x processes: ms | of ideal |\n|---|---|---|---|---|---|")
    for name, (compute, parameters, rows) in MODELS.items():
        one = seconds_of_step(compute, parameters, 1, 1)
        for processes in (8, 64, 512):
            strong = seconds_of_step(compute, parameters, processes, 1)
            weak = seconds_of_step(compute, parameters, processes, processes)
            shared = f"{1e3 * strong:.3g} | {one / strong:.2g}" if processes <= rows else "too few rows | "
            print(f"| {name} | {processes} | {shared} | {1e3 * weak:.3g} | {one / weak:.0%} |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("task", nargs="*")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--extrapolate", action="store_true")
    options = arguments.parse_args()
    if options.extrapolate:
        return extrapolate()
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
