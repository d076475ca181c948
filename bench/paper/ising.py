"""Ising lattices (the paper, Table 3): couplings learned from 2,000 samples, by the distance to the true ones."""
import array
import ast
import math

from . import experiment, markdown

NAME = "ising"
LATTICES = {"0.1": 10, "0.2": 10, "0.3": 10, "0.4": 10, "0.5": 10, "-0.1": 9, "-0.2": 9}
PAPER_METHODS = ["bernoulli", "pool", "grid"]
PUBLISHED = {"0.1": "6.1", "0.2": "5.1", "0.3": "3.4", "0.4": "2.6", "0.5": "2.3", "-0.1": "5.7", "-0.2": "5.1"}
GOALS = {"0.1": 5.9, "0.2": 5.6, "0.3": 4.0, "0.4": 3.2, "0.5": 3.0, "-0.1": 5.9, "-0.2": 5.5}
PENALTIES = ["0.001", "0.003", "0.01"]
THRESHOLDS = ["0.01", "0.02", "0.03", "0.05", "0.08", "0.12"]
REACHES = ["1", "1.5", "2", "3"]
DECAYS = ["0", "0.001", "0.003", "0.01", "0.03"]
HELD_OUT = "0.2"
APPROACHES = PAPER_METHODS + ["sparse", "local"]
SHOWN = ["0.2-bernoulli", "0.2-sparse", "0.3-local"]


def cells():
    return [f"{sigma}-{approach}" for sigma in LATTICES for approach in APPROACHES]


def rows_of(cell, sigma):
    """Data of the paper: 2,000 chains of 1,000,000 site updates, and the couplings they were made with."""
    side = LATTICES[sigma]
    truth = experiment.Settings.out / NAME / f"{sigma}-J.npy"
    data = experiment.test_rows(cell, f"{sigma}.npy", "ising", "--shape", f"{side}x{side}", f"--sigma={sigma}", "-n", 2000,
                                "--steps", 1000000, "--seed", 1, "--couplings", truth)
    return data, truth


def read_matrix(path):
    """The float32 values of a .npy file."""
    content = path.read_bytes()
    end = 10 + int.from_bytes(content[8:10], "little")
    assert ast.literal_eval(content[10:end].decode())["descr"] == "<f4", path
    return array.array("f", content[end:])


def accuracy(cell, model, truth):
    """-log of the root mean square error over all entries, the measure of the paper; and the number of couplings."""
    cell.ort_ed("inspect", model, "--couplings", cell.folder / "J.npy", keep=False)
    learned = read_matrix(cell.folder / "J.npy")
    errors = [(a - b) ** 2 for a, b in zip(learned, read_matrix(truth))]
    return {"neg_log_rmse": -0.5 * math.log(sum(errors) / len(errors)), "edges": sum(abs(a) > 1e-5 for a in learned) // 2}


class Fits:
    """Trainings of one cell, each on most rows for a choice by validation, then on all."""

    def __init__(self, cell, sigma):
        self.cell, (self.data, self.truth) = cell, rows_of(cell, sigma)
        self.shape = f"{LATTICES[sigma]}x{LATTICES[sigma]}"

    def fit(self, name, recipe, *options, held_out):
        return self.cell.train(f"ising/{recipe}.toml", "--data", self.data, "--image-shape", self.shape,
                               "--validation-fraction", held_out, "--validation-rows", 2000, "--validate-every",
                               1000000 if held_out != "0" else 0, *options, run=name)

    def validation(self, name, recipe, *options):
        training = self.fit(name, recipe, *options, held_out=HELD_OUT)
        return training["validation_loss"], training["model"]

    def finish(self, training, **values):
        self.cell.ort_ed("plot", "couplings", training["model"], "--truth", self.truth, "-o",
                         self.cell.folder / "couplings.png", keep=False)
        self.cell.finish({**accuracy(self.cell, training["model"], self.truth), **values,
                          "seconds": sum(c.get("seconds", 0) for c in self.cell.commands)})


def by_paper(fits, method):
    """The paper's protocol; the penalty by the validation loss, not by the truth."""
    losses = {l1: fits.validation(f"l1-{l1}", method, "--l1", l1)[0] for l1 in PENALTIES}
    best = min(losses, key=losses.get)
    training = fits.fit("final", method, "--l1", best, held_out="0")
    fits.finish(training, l1=best, validation=losses)


def threshold(cell, model, value, name):
    path = cell.folder / f"{name}.onnx"
    cell.ort_ed("export", model.parent, "--threshold", value, "--threshold-on", "G", "-o", path)
    return path


def refit(fits, name, start, decay, held_out):
    return fits.fit(name, "conditional", "--model", start, "--freeze-zeros", "--weight-decay", decay, held_out=held_out)


def sparse(fits):
    """l1, couplings below a threshold cut, the others fitted again; penalty and threshold by validation."""
    losses, starts = {}, {}
    for l1 in PENALTIES:
        _, model = fits.validation(f"l1-{l1}", "conditional", "--init", "zero", "--l1", l1)
        for cut in THRESHOLDS:
            name = f"l1-{l1}-cut-{cut}"
            starts[name] = threshold(fits.cell, model, cut, name)
            losses[name] = refit(fits, f"refit-{name}", starts[name], "0", HELD_OUT)["validation_loss"]
    best = min(losses, key=losses.get)
    fits.finish(refit(fits, "final", starts[best], "0", "0"), chosen=best, validation=losses)


def local(fits):
    """Couplings up to a distance on the image, chosen by validation, then a weight decay in the same way."""
    def lattice(reach):
        path = fits.cell.folder / f"reach-{reach}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        fits.cell.ort_ed("new", "ising", "--image-shape", fits.shape, "--init", "lattice", "--reach", reach, "--coupling",
                         0.01, "-o", path)
        return path

    starts = {reach: lattice(reach) for reach in REACHES}
    by_reach = {r: refit(fits, f"reach-{r}", starts[r], DECAYS[1], HELD_OUT)["validation_loss"] for r in REACHES}
    reach = min(by_reach, key=by_reach.get)
    by_decay = {d: refit(fits, f"decay-{d}", starts[reach], d, HELD_OUT)["validation_loss"] for d in DECAYS}
    decay = min(by_decay, key=by_decay.get)
    fits.finish(refit(fits, "final", starts[reach], decay, "0"), reach=reach, decay=decay,
                validation={"reach": by_reach, "decay": by_decay})


def run(cell):
    sigma, approach = cell.name.rsplit("-", 1)
    fits = Fits(cell, sigma)
    if approach in PAPER_METHODS:
        by_paper(fits, approach)
    else:
        {"sparse": sparse, "local": local}[approach](fits)


def render(results):
    pictures = [markdown.picture(f"ising-{name}", experiment.run_file(NAME, name, "couplings.png"))
                for name in SHOWN if name in results]
    header = ["sigma", "J = 0", "best published"] + APPROACHES + ["goal"]
    rows = []
    for sigma, side in LATTICES.items():
        zero = -0.5 * math.log(4 * float(sigma) ** 2 / side ** 2)
        values = [results.get(f"{sigma}-{a}") for a in APPROACHES]
        rows.append([f"{sigma} ({side} x {side})", f"{zero:.2f}", PUBLISHED[sigma]]
                    + [f"{v['neg_log_rmse']:.2f}" if v else "" for v in values] + [f"{GOALS[sigma]}"])
    markdown.write_page(NAME, PAGE.format(provenance=markdown.provenance(results.values(), NAME),
                                          table=markdown.table(header, rows), pictures="\n".join(pictures)))


PAGE = """
# Ising lattices (the paper, Table 3)

Couplings learned from 2,000 samples of a periodic lattice, p(s) ~ exp(s'Js), J = sigma between neighbours. The measure is
minus the logarithm of the root mean square error over all entries of J; larger is better. `J = 0` is what a model scores
that has learned nothing.

{provenance}

{table}

- **bernoulli, pool, grid**: the paper's protocol (Adam 1e-4, batch 256, M = 32, w = 1, an l1 penalty), 20,000 steps. The
  penalty is the one with the lowest validation loss; the published figures took the one with the best score.
- **sparse**: one spin is erased and guessed from all others (`--method erase --block 1 --exact`), with an l1 penalty;
  couplings below a threshold are cut and the rest is fitted again without the penalty. Penalty and threshold are chosen by
  the validation loss on a fifth of the rows; nothing looks at the true J.
- **local**: the same fit with couplings only between spins up to a distance on the image, chosen by validation among {reaches},
  with a weight decay chosen in the same way. It uses that the rows are images, which the others do not.

{pictures}
""".replace("{reaches}", ", ".join(REACHES))
