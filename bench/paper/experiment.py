"""Runs the commands of an experiment and keeps what they say: one result file a cell.

A cell that has its result file is not run again, and a training that was stopped is resumed, so that a table can be made
in as many sittings as it takes.
"""
import datetime
import json
import os
import pathlib
import platform
import shlex
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECIPES = ROOT / "recipes"
DOCS = ROOT / "docs" / "results"
PICTURES = DOCS / "images"


class Settings:
    """Where things are; set by the command line."""
    ort_ed = ROOT / "build" / "release" / "tools" / "ort-ed"
    out = ROOT / "paper-out"
    data = None


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return f"{len(os.sched_getaffinity(0))} x {model or platform.machine()}"


def short(word):
    """A word of a command as a reader would type it: paths from the repository, data sets from their folder."""
    for folder, name in ((Settings.out, "paper-out"), (Settings.data, "DATA"), (ROOT, ".")):
        if word.startswith(f"{folder}/"):
            return os.path.normpath(os.path.join(name, os.path.relpath(word, folder)))
    return word


def command_line(words):
    return shlex.join(["ort-ed", *(short(str(word)) for word in words)])


class Failed(Exception):
    """A command of a cell failed; it has said why."""


class Cell:
    """One experiment: its folder for what is large, its result file for what counts."""

    def __init__(self, table, name):
        self.table, self.name = table, name
        self.folder = Settings.out / table / name
        self.result_file = DOCS / "data" / table / f"{name}.json"
        self.commands = []

    def result(self):
        return json.loads(self.result_file.read_text()) if self.result_file.exists() else None

    def ort_ed(self, *words, keep=True):
        """Runs a command and returns what it prints, parsed where it is JSON."""
        words = [str(w) for w in words]
        start = time.monotonic()
        done = subprocess.run([str(Settings.ort_ed), *words], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failed(f"{self.table}/{self.name}: `ort-ed {shlex.join(words)}` failed")
        if keep:
            self.commands.append({"command": command_line(words),
                                  "seconds": round(time.monotonic() - start, 1)})
        return json.loads(done.stdout) if "--json" in words else done.stdout

    def train(self, recipe, *options, run="run"):
        """A training by a recipe, or by the defaults where that is None, resumed where an earlier one with the same recipe and
        options stopped. Returns its result with the seconds it took."""
        folder = self.folder / run
        config = ["--config", RECIPES / recipe] if recipe else []
        words = ["train", *config, *options, "-o", folder]
        made_by = folder.with_name(f"{run}.made-by")
        made_of = command_line(words) + (f"\n\n{(RECIPES / recipe).read_text()}" if recipe else "")
        start = time.monotonic()
        if list(folder.glob("**/checkpoints/*.ckpt")) and made_by.exists() and made_by.read_text() == made_of:
            result = self.ort_ed("train", "--resume", folder, "--json", keep=False)
        else:
            folder.parent.mkdir(parents=True, exist_ok=True)
            made_by.write_text(made_of)
            force = ["--force"] if folder.exists() else []
            result = self.ort_ed(*words, *force, "--json", keep=False)
        seconds = max(training_seconds(folder), time.monotonic() - start)
        self.commands.append({"command": command_line(words), "seconds": round(seconds, 1)})
        return {**result, "seconds": seconds, "model": folder / "model.onnx", "best_model": folder / "best.onnx"}

    def with_gradient(self, model):
        """The model in the form that gradient-guided samplers need."""
        guided = self.folder / "model.onnx"
        self.ort_ed("export", model, "--with-gradient", "-o", guided)
        return guided

    def finish(self, values):
        """Writes the result file, at once or not at all."""
        self.result_file.parent.mkdir(parents=True, exist_ok=True)
        record = {"table": self.table, "cell": self.name, "date": datetime.date.today().isoformat(),
                  "machine": machine(), "version": self.ort_ed("--version", keep=False).strip(),
                  "commands": self.commands, **values}
        temporary = self.result_file.with_suffix(".tmp")
        temporary.write_text(json.dumps(record, indent=1) + "\n")
        temporary.rename(self.result_file)
        return record


def training_seconds(folder):
    """By the metrics of all phases, so that it holds for a training in several sittings."""
    return sum(phase_seconds(file) for file in folder.glob("**/metrics.jsonl"))


def phase_seconds(metrics_file):
    seconds, last = 0.0, 0
    for line in metrics_file.read_text().splitlines():
        metrics = json.loads(line)
        if metrics.get("steps_per_second"):
            seconds += (metrics["step"] - last) / metrics["steps_per_second"]
        last = metrics["step"]
    return seconds


def with_seeds(names, repeated):
    """Cells by these names, which stand for seed 1; some are repeated with other seeds: {name: seeds}."""
    return [cell for name in names for cell in [name] + [f"{name}-seed-{seed}" for seed in repeated.get(name, [])]]


def name_and_seed(cell_name):
    name, _, seed = cell_name.partition("-seed-")
    return name, int(seed or 1)


def run_file(table, cell, name):
    """What a cell left in its folder."""
    return Settings.out / table / cell / name


def test_rows(cell, name, *options):
    """A file of rows drawn by `ort-ed data`, made once for all cells of the table."""
    path = Settings.out / cell.table / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        cell.ort_ed("data", *options, "-o", path, keep=False)
    command = {"command": command_line(["data", *options, "-o", path])}
    if command not in cell.commands:
        cell.commands.append(command)
    return path
