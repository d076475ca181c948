"""Planar densities in 32 bits (the paper, Table 1): how far above the entropy of the truth the models are."""
from . import experiment, markdown

NAME = "densities"
DENSITIES = ["2spirals", "8gaussians", "circles", "moons", "pinwheel", "swissroll", "checkerboard"]
METHODS = ["bernoulli", "pool", "grid"]
GOAL = 0.02  # nats above the entropy
TEST_ROWS = 100000  # the standard error of a mean of fewer would hide what is measured


def cells():
    return [f"{density}-{method}" for density in DENSITIES for method in METHODS]


def evaluate(cell, density, model):
    """Likelihood by annealing from both sides; MMD as in the paper, ten sets of 4,000; the paper's estimate of log Z."""
    test = experiment.test_rows(cell, f"{density}-test.npy", density, "-n", TEST_ROWS, "--seed", 2)
    evaluation = cell.ort_ed("eval", model, "--data", test, "--density", density, "--temperatures", 400, "--chains", 1000,
                             "--raise-rows", 0, "--samples", 4000, "--sample-sets", 10, "--steps", 100, "--thin", 5,
                             "--mmd-null", 40, "--json")
    uniform = cell.ort_ed("logz", model, "--method", "is", "--base", "uniform", "--proposals", 1000000, "--json")
    return {"evaluation": evaluation, "log_z_uniform": uniform}


def run(cell):
    density, method = cell.name.rsplit("-", 1)
    training = cell.train(f"densities/{method}.toml", "--data", f"synth:{density}", "--seed", 1)
    values = evaluate(cell, density, training["model"])
    cell.ort_ed("plot", "landscape", training["model"], "--density", density, "-o", cell.folder / "landscape.png",
                keep=False)
    cell.finish({"seed": 1, "steps": training["steps"], "seconds": training["seconds"], **values})


def nll_cell(result):
    e = result["evaluation"]
    from_above = e["nll_reverse"] - e["entropy"]
    return f"{e['nll_above_entropy']:+.3f} to {from_above:+.3f} (± {e['nll_error']['total']:.3f})"


def mmd_cell(result):
    mmd = result["evaluation"]["mmd"]
    low, high = mmd["hamming_null"]
    inside = "inside" if low <= mmd["hamming"] <= high else "outside"
    return f"{1e4 * mmd['hamming']:.2f}, {inside} {1e4 * low:.2f} to {1e4 * high:.2f}"


def uniform_cell(result):
    e, u = result["evaluation"], result["log_z_uniform"]
    return f"{e['energy']['mean'] + u['log_z'] - e['entropy']:+.3f} (± {u['standard_error']:.3f})"


def rows_of(results, value):
    rows = []
    for density in DENSITIES:
        found = [results.get(f"{density}-{method}") for method in METHODS]
        if any(found):
            rows.append([density] + [value(r) if r else "" for r in found])
    return rows


def render(results):
    header = [""] + METHODS
    entropies = {r["cell"].rsplit("-", 1)[0]: r["evaluation"]["entropy"] for r in results.values()}
    met = sum(r["evaluation"]["nll_above_entropy"] <= GOAL for r in results.values())
    pictures = "\n".join(markdown.picture(f"density-{d}", experiment.run_file(NAME, f"{d}-bernoulli", "landscape.png"))
                         for d in DENSITIES if f"{d}-bernoulli" in results)
    example = next(iter(results.values()))
    markdown.write_page(NAME, PAGE.format(
        provenance=markdown.provenance(results.values(), NAME), goal=GOAL, met=met, cells=len(results), all=len(cells()),
        nll=markdown.table(header, rows_of(results, nll_cell)),
        mmd=markdown.table(header, rows_of(results, mmd_cell)),
        uniform=markdown.table(header, rows_of(results, uniform_cell)),
        cost=markdown.table(header, rows_of(results, lambda r: f"{r['steps']} steps, {markdown.seconds(r['seconds'])}")),
        entropies=markdown.table(["", "entropy (nats)"], [[d, f"{e:.4f}"] for d, e in entropies.items()]),
        example=example["cell"], commands=markdown.commands(example), pictures=pictures))


PAGE = """
# Planar densities (the paper, Table 1)

Points of seven planar densities in the 32-bit Gray code of the paper, learned from a stream of samples. A model's mean
negative log-likelihood cannot be below the entropy of the truth, so what counts is the difference, in nats; the entropies
are computed by numerical integration (`runtime/data/planar.h`). The goal is {goal}: {met} of {cells} measured cells ({all}
in all) are at or below it.

{provenance}

## Negative log-likelihood above the entropy

From log Z estimated by annealed importance sampling from below and, in reverse, from above; in brackets the standard error.

{nll}

## Squared MMD, x 1e-4

Ten sets of 4,000 model samples against ten sets of 4,000 test points, kernel exp(-0.1 Hamming distance); with the interval
that holds 95 % of the values when samples and test points are shuffled.

{mmd}

## The paper's estimate of log Z

The same difference with log Z from 1,000,000 uniform proposals. Its error is larger, and where few proposals hit the density
it is low: a figure below zero is an error of log Z, not a success.

{uniform}

## Cost of the training

{cost}

`pool` and `grid` are mixed with `bernoulli` in equal parts: alone, grid leaves the mass of the two parities open and pool
that of the numbers of ones (docs/training.md).

## Entropies

{entropies}

## Commands of {example}

{commands}

{pictures}
"""
