"""Likelihood and samples of a model of planar points, with a proposal that knows where the points are.

The plane is cut into 256 x 256 cells: the first eight bits of each coordinate's code. A proposal draws a cell, from a
histogram of true points with some uniform mass, and the other bits uniformly. Where the model is close to the truth all
weights are nearly equal: a few hundred thousand energies give log Z to about 0.001 and, by rejection, independent samples of
the model.
"""
import math
import zlib

import numpy

from . import experiment

CODE_BITS = 16  # of a coordinate
CELL_BITS = 8
CELLS = 4 ** CELL_BITS
UNIFORM = 0.3  # the share of the uniform distribution: weights stay below Z / 0.3 where no true point fell
POINTS = 2000000
PROPOSALS = 400000
SETS, SET = 10, 4000  # of samples, for the MMD
NULL_PAIRS = 200
TEST_POINTS = 400000  # the standard error of a mean of fewer would hide what is measured


def cells_of(rows):
    cells = numpy.zeros(len(rows), numpy.int64)
    for coordinate in (0, CODE_BITS):
        for bit in range(CELL_BITS):
            cells = 2 * cells + rows[:, coordinate + bit]
    return cells


def put_cells(rows, cells):
    columns = [c + b for c in (0, CODE_BITS) for b in range(CELL_BITS)]
    for place, column in enumerate(reversed(columns)):
        rows[:, column] = (cells >> place) & 1


def true_points(cell, density):
    """For the histogram and for how the MMD scatters; the test points are others."""
    return numpy.load(experiment.test_rows(cell, f"{density}-histogram.npy", density, "-n", POINTS, "--seed", 3))


def proposals(cell, density):
    """A file of proposals and a file of their log-probabilities, made once for all models of a density."""
    folder = experiment.Settings.out / cell.table
    rows_file, probability_file = folder / f"{density}-proposals.npy", folder / f"{density}-log-q.npy"
    if not probability_file.exists():
        histogram = numpy.bincount(cells_of(true_points(cell, density)), minlength=CELLS) / POINTS
        mass = (1 - UNIFORM) * histogram + UNIFORM / CELLS
        random = numpy.random.default_rng(4)
        drawn = random.choice(CELLS, size=PROPOSALS, p=mass)
        rows = random.integers(0, 2, (PROPOSALS, 2 * CODE_BITS), dtype=numpy.uint8)
        put_cells(rows, drawn)
        numpy.save(rows_file, rows)
        numpy.save(probability_file, numpy.log(mass[drawn]) - 2 * (CODE_BITS - CELL_BITS) * numpy.log(2))
    return rows_file, probability_file


def weigh(cell, density, model):
    """The proposals and the logarithms of their weights under the model."""
    rows_file, probability_file = proposals(cell, density)
    energies = cell.folder / "proposal-energies.npy"
    cell.ort_ed("score", model, rows_file, "-o", energies)
    return numpy.load(rows_file), -numpy.load(energies).astype(float) - numpy.load(probability_file)


def log_z(log_weights):
    top = log_weights.max()
    weights = numpy.exp(log_weights - top)
    return {"log_z": float(top + numpy.log(weights.mean())),
            "standard_error": float(weights.std() / weights.mean() / len(weights) ** 0.5), "proposals": len(weights)}


def samples(random, rows, log_weights):
    """Proposals kept in proportion to their weight. A model far from the truth leaves too few of them: then proposals are drawn
    in that proportion, and some more than once."""
    kept = rows[numpy.log(random.random(len(rows))) < log_weights - log_weights.max()]
    if len(kept) >= SETS * SET:
        return kept
    weights = numpy.exp(log_weights - log_weights.max())
    return random.choice(rows, SETS * SET, p=weights / weights.sum())


def sets_of(random, rows):
    """Sets of different rows."""
    return random.choice(rows, SETS * SET, replace=False).reshape(SETS, SET, -1)


def kernel_sum(a, b):
    """Of exp(-0.1 Hamming distance) over all pairs of rows."""
    a, b = a.astype(numpy.float32), b.astype(numpy.float32)
    kernel = (0.2 * a) @ b.T  # of common ones; the distance is the ones of both less twice these
    numpy.exp(kernel, out=kernel)
    return numpy.exp(-0.1 * a.sum(1)) @ kernel @ numpy.exp(-0.1 * b.sum(1))


def within(rows):
    """The mean kernel of two different rows of a set."""
    return (kernel_sum(rows, rows) - len(rows)) / (len(rows) * (len(rows) - 1))


def between(a, b):
    return kernel_sum(a, b) / (len(a) * len(b))


def squared_mmd(a, b):
    """Unbiased, so that it may be negative."""
    return within(a) + within(b) - 2 * between(a, b)


def mmd_of_truth(cell, density):
    """What pairs of sets of true points give; made once for all models of a density."""
    path = experiment.Settings.out / cell.table / f"{density}-null.npy"
    if not path.exists():
        pairs = true_points(cell, density)[:NULL_PAIRS * 2 * SET].reshape(NULL_PAIRS, 2, SET, -1)
        numpy.save(path, [squared_mmd(a, b) for a, b in pairs])
    return numpy.load(path)


def inside(mmd):
    return mmd["squared"] <= mmd["null"][1]


def compare(cell, density, rows, log_weights):
    """The MMD of samples, and where it is outside that of a second draw: one in forty true models is outside by chance."""
    first = draw_and_compare(cell, density, rows, log_weights, cell.name)
    if inside(first):
        return {"mmd": first}
    return {"mmd": first, "mmd_again": draw_and_compare(cell, density, rows, log_weights, f"{cell.name} again")}


def draw_and_compare(cell, density, rows, log_weights, key):
    """Mean MMD of sets of samples and sets of test points, as in the paper, and the 95 % interval of truth against truth.
    Each cell draws its own, so that chance does not strike all models of a density at once."""
    random = numpy.random.default_rng(zlib.crc32(key.encode()))
    drawn = sets_of(random, samples(random, rows, log_weights))
    points = sets_of(random, numpy.load(test_points(cell, density)))
    null = random.choice(mmd_of_truth(cell, density), (10000, SETS)).mean(axis=1)
    return {"squared": float(numpy.mean([squared_mmd(a, b) for a, b in zip(drawn, points)])),
            "null": [float(q) for q in numpy.quantile(null, [0.025, 0.975])], "sets": SETS, "samples": SET}


def test_points(cell, density):
    return experiment.test_rows(cell, f"{density}-test.npy", density, "-n", TEST_POINTS, "--seed", 2)


def evaluate(cell, density, model, with_samples):
    """Energies of test points; log Z by the paper's uniform proposals and by those of the histogram; the MMD of samples."""
    evaluation = cell.ort_ed("eval", model, "--data", test_points(cell, density), "--density", density, "--log-z", "is",
                             "--base", "uniform", "--proposals", 1000000, "--samples", 0, "--json")
    rows, log_weights = weigh(cell, density, model)
    mmd = compare(cell, density, rows, log_weights) if with_samples else {}
    return {"evaluation": evaluation, "log_z_histogram": log_z(log_weights), **mmd}


def draw_landscape(cell, density, model, grid):
    cell.ort_ed("plot", "landscape", model, "--density", density, "--grid", grid, "-o", cell.folder / "landscape.png",
                keep=False)


def above_entropy(result, log_z):
    """Nats above the entropy by an estimate of log Z, with its standard error."""
    e = result["evaluation"]
    return (e["energy"]["mean"] + log_z["log_z"] - e["entropy"],
            math.hypot(e["energy"]["standard_error"], log_z["standard_error"]))


def shown(value, error):
    return f"{value:+.3f} ± {error:.3f}"
