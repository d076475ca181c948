"""Planar densities in 32 bits (the paper, Table 1): how far above the entropy of the truth the models are. All methods side by side
at the same cost, and our recipes."""
import numpy

from . import experiment, markdown, plane, recipes_densities, side_by_side
from .side_by_side import DENSITIES

NAME = "densities"
SEEDS = {"pinwheel": [2, 3], "checkerboard": [2, 3]}  # further ones
SHOWN = ["pcd-3", "eb-gfn", "ed-bern", "ours"]  # methods whose energies are pictured, on pinwheel


def compared():
    """Cells of the methods side by side: {name: (density, method)} of seed 1."""
    return {f"{density}-{method}": (density, method) for density in DENSITIES for method in side_by_side.methods_of(density)}


def cells():
    repeated = {name: SEEDS.get(density, []) for name, (density, method) in compared().items() if method in side_by_side.METHODS}
    return experiment.with_seeds(compared(), repeated) + recipes_densities.cells()


def run(cell):
    name, seed = experiment.name_and_seed(cell.name)
    if name not in compared():
        return recipes_densities.run(cell)
    density, method = compared()[name]
    training = side_by_side.train(cell, density, method, seed)
    values = plane.evaluate(cell, density, training["model"], with_samples=True)
    plane.draw_landscape(cell, density, training["model"], grid=120)
    cell.finish({"seed": seed, "steps": training["steps"], "seconds": training["seconds"], **values})


def of_method(results, density, method):
    """The results of all seeds."""
    return [r for name, r in results.items() if experiment.name_and_seed(name)[0] == f"{density}-{method}"]


def above(result):
    return plane.above_entropy(result, result["log_z_histogram"])


def nll_cell(found):
    """Of the first seed with its error, and of the others."""
    return "; ".join([plane.shown(*above(found[0])), *(f"{above(r)[0]:+.3f}" for r in found[1:])])


def mmd_of(result):
    again = f" (outside; drawn again {1e4 * result['mmd_again']['squared']:.2f})" if "mmd_again" in result else ""
    return f"{1e4 * result['mmd']['squared']:.2f}" + again


def mmd_cell(found):
    return "; ".join(map(mmd_of, found))


def cost_cell(found):
    return markdown.seconds(numpy.mean([r["seconds"] for r in found]))


def entropies(results):
    return {r["cell"].split("-")[0]: r["evaluation"]["entropy"] for r in results.values()}


def null_row(results):
    """How the MMD of true points scatters, in each density's first result."""
    first = {r["cell"].split("-")[0]: r["mmd"]["null"] for r in results.values()}
    return ["truth against truth, 95 %"] + [f"{1e4 * first[d][0]:.2f} to {1e4 * first[d][1]:.2f}" if d in first else "" for d in DENSITIES]


def rows_of(results, value):
    rows = []
    for method, kind in (side_by_side.METHODS | {m: k for more in side_by_side.MORE.values() for m, k in more.items()}).items():
        found = [of_method(results, density, method) for density in DENSITIES]
        if any(found):
            rows.append([kind.title] + [value(f) if f else "" for f in found])
    return rows


def published_nll(results):
    """Above our entropies, as far as they are known."""
    known = entropies(results)
    return [[f"*published: {method}*"] + [f"{v - known[d]:+.3f}" if d in known else "" for d, v in zip(DENSITIES, values)]
            for method, values in side_by_side.PUBLISHED_NLL.items()]


def published_mmd():
    return [[f"*published: {method}*", *map(str, values)] for method, values in side_by_side.PUBLISHED_MMD.items()]


def steps_table():
    return markdown.table(["", "units of a row", "rows of a step", "steps", "options"],
                          [[m.title, f"{m.cost:,.0f}", str(m.batch), f"{m.steps():,}", f"`{' '.join(map(str, m.options))}`"]
                           for m in side_by_side.methods_of("pinwheel").values()])


def side_by_side_section(results):
    header = ["", *DENSITIES]
    pictures = [f"{side_by_side.METHODS[m].title}\n\n" + markdown.picture(f"density-pinwheel-{m}",
                experiment.run_file(NAME, f"pinwheel-{m}", "landscape.png")) for m in SHOWN if f"pinwheel-{m}" in results]
    commands = "\n".join(f"\n### {name}\n\n{markdown.commands(r)}" for name, r in results.items())
    return SIDE_BY_SIDE.format(
        nll=markdown.table(header, rows_of(results, nll_cell) + published_nll(results)),
        mmd=markdown.table(header, rows_of(results, mmd_cell) + [null_row(results)] + published_mmd()),
        cost=markdown.table(header, rows_of(results, cost_cell)), steps=steps_table(), commands=commands,
        pictures="\n\n".join(pictures))


def render(results):
    names = {name for name in results if experiment.name_and_seed(name)[0] in compared()}
    field = {name: r for name, r in results.items() if name in names}
    recipes = {name: r for name, r in results.items() if name not in names}
    known = entropies(results)
    markdown.write_page(NAME, PAGE.format(
        provenance=markdown.provenance(results.values(), NAME), test_rows=f"{plane.TEST_POINTS:,}", proposals=f"{plane.PROPOSALS:,}",
        side_by_side=side_by_side_section(field) if field else "", recipes=recipes_densities.section(NAME, recipes),
        entropies=markdown.table(["", "entropy (nats)"], [[d, f"{known[d]:.4f}"] for d in DENSITIES if d in known])))


SIDE_BY_SIDE = """
## All methods side by side

One network (MLP 32-256-256-256-1, Swish, spins), one base (Bernoulli with the mean of the data), average of weights (0.999), stream of
data, gradients clipped at 5, cosine decay, and the same cost: {budget:,} steps of energy discrepancy with 128 points and M = 32. Of the network
evaluations that a method takes each counts 1, with the gradient of its weights 3, networks beside the energy by their multiplications.
Models are the last ones of the training, and the likelihood of EB-GFN and ALOE is that of the energy, not of their samplers.

Negative log-likelihood above the entropy, with the standard error of the estimate (three figures: three seeds):

{{nll}}

Published figures are those of Table 1 of the paper, {paper}; it took those of PCD, ALOE+ and EB-GFN from Zhang et al. 2022.

Squared MMD x 1e-4 of the same models. "Outside" is above the interval of true points:

{{mmd}}

What the same cost takes, and the time of the training:

{{steps}}

{{cost}}

What differs from the published protocols: the published rows are other networks (ED: bits and Swish with a learned slope; EB-GFN and
ALOE: ELU, no base, no average of weights), trained for 100,000 steps, and PCD has no public code for this table. Here all have the budget
above, a 50th of ED's, with a rate that decays, so that ED's rows are not the paper's either. PCD: a buffer of 10,000 chains from Bernoullis
with the mean of the data, never restarted, rate 0.001. ALOE is our reading of the authors' program with a masked autoencoder as q0, of about the size of
EB-GFN's policy; ALOE+ has about as many parameters as theirs, and at the same cost next to no steps. "Ours" is energy discrepancy with
Bernoulli noise, 400 points and M = 2, and a rate of 0.006 after 200 steps of warm-up. The published figures, of 4,000 test
points and so with a standard error of about 0.016, stand above our entropies; the quantisation of 2spirals, circles, moons and swissroll is random in the
published codes, which moves those by up to 0.06.

{{pictures}}

## Commands side by side
{{commands}}
""".format(budget=side_by_side.ED_STEPS, paper=markdown.PAPER)

PAGE = """
# Planar densities (the paper, Table 1)

Points of seven planar densities in the 32-bit Gray code of the paper, learned from a stream of samples. A model's mean
negative log-likelihood cannot be below the entropy of the truth, so what counts is the difference, in nats; the entropies
stand in `runtime/data/planar.cc`, and a test computes them again by numerical integration.

{provenance}

The test set has {test_rows} points. log Z is estimated by importance sampling with {proposals} proposals of a histogram of true points
(`bench/paper/plane.py`). For the squared MMD ten sets of 4,000 model samples are compared with ten sets of 4,000 test points, kernel
exp(-0.1 Hamming distance), unbiased, so that it may be negative; the interval holds 95 % of the values of true points against
true points. A value below it counts as inside. One in forty perfect models is outside by chance: where a cell is, a second draw
was made. The samples are proposals of the histogram kept in proportion to their weight: independent and exact, so
that the model is judged and not a Markov chain; of models far from the truth some proposals are drawn more than once.
{side_by_side}
{recipes}

## Entropies

{entropies}
"""
