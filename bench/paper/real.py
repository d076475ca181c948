"""Real binary data: test log-likelihoods on the density-estimation benchmark, next to published ones. All twenty sets with the
default settings of `ort-ed train`, and five of them by recipes of their own."""
from . import experiment, markdown, published, recipes_real

NAME = "real"
BUDGET = ["--steps", 2000]  # of the network on the base: what all trainings have in common
EVALUATION = ["--samples", 0, "--raise-rows", 0]  # and all evaluations
# How much one training says of the next, from few variables to many and from many rows to few.
REPEATED = {name: [2, 3] for name in ("nltcs", "plants", "accidents", "dna", "tmovie")}
DEFAULT = "default-"


def cells():
    defaults = experiment.with_seeds(published.SETS, REPEATED)
    return [DEFAULT + name for name in defaults] + recipes_real.cells()


def files(name):
    folder = experiment.Settings.data / "debd"
    return {split: folder / f"{name}_{split}.bits.npy.gz" for split in ("train", "valid", "test")}


def run(cell):
    if not cell.name.startswith(DEFAULT):
        return recipes_real.run(cell, files)
    name, seed = experiment.name_and_seed(cell.name.removeprefix(DEFAULT))
    rows = files(name)
    training = cell.train(None, "--data", rows["train"], "--validation", rows["valid"], "--columns", published.variables(name),
                          "--seed", seed, *BUDGET)
    evaluation = cell.ort_ed("eval", training["best_model"], "--data", rows["test"], *EVALUATION, "--json")
    cell.finish({"seed": seed, "steps": training["steps"], "seconds": training["seconds"], "budget": BUDGET,
                 "evaluation": evaluation})


def nll(evaluation):
    """The worse of the estimates by log Z forwards and in reverse."""
    return max(evaluation["nll"], evaluation.get("nll_reverse", evaluation["nll"]))


def as_good(name, evaluation):
    """Whether the model is as good as the best published, within a standard error; not where `eval` warns."""
    within = nll(evaluation) - evaluation["nll_error"]["total"] <= published.bar(name)
    return within and not markdown.unreliable(evaluation)


def verdict(name, evaluation):
    if markdown.unreliable(evaluation):
        return "not known (!)"
    if nll(evaluation) <= published.bar(name) + 0.005:  # published figures have two digits
        return "**yes**"
    return "**within the error**" if as_good(name, evaluation) else f"no, {nll(evaluation) - published.bar(name):+.2f}"


def base_shown(evaluation):
    base = evaluation.get("nll_base")
    return f"{base['value']:.2f}" if base else ""


def row(cell_name, result):
    name, _ = experiment.name_and_seed(cell_name)
    evaluation = result["evaluation"]
    error = evaluation["nll_error"]
    return [cell_name, str(published.variables(name)), str(evaluation["rows"]), markdown.estimates(evaluation),
            f"{error['test_set']:.2f}", f"{error['log_z']:.3f}", markdown.effective_chains(evaluation),
            base_shown(evaluation), f"{result['seconds'] / 60:.1f}", published.bar_shown(name), verdict(name, evaluation),
            *("" if f is published.MISSING else f"{f:.2f}" for f in published.figures(name))]


def summary(first_seeds):
    """Of one training of each set."""
    count = sum(as_good(name, r["evaluation"]) for name, r in first_seeds.items())
    at_bar = sum(verdict(name, r["evaluation"]) == "**yes**" for name, r in first_seeds.items())
    doubtful = [name for name, r in first_seeds.items() if markdown.unreliable(r["evaluation"])]
    return SUMMARY.format(count=count, at_bar=at_bar, sets=len(first_seeds), all=len(published.SETS),
                          doubtful=", ".join(doubtful) or "none")


def means(first_seeds):
    names = list(first_seeds)
    ours = sum(nll(r["evaluation"]) for r in first_seeds.values()) / len(names)
    best = sum(map(published.bar, names)) / len(names)
    others = published.means(names)
    lacks = [f"{mean:.2f}" + (f" (without {missing})" if missing else "") if mean else "" for mean, missing in others.values()]
    return markdown.table(["mean over", "ort-ed", "bar", *others], [[f"{len(names)} sets", f"**{ours:.2f}**", f"{best:.2f}", *lacks]])


def defaults_section(results):
    found = {name.removeprefix(DEFAULT): r for name, r in results.items() if name.startswith(DEFAULT)}
    first_seeds = {name: r for name, r in found.items() if name in published.SETS}
    if not first_seeds:
        return ""
    header = ["", "D", "test rows", "ort-ed", "standard error", "of log Z", "effective chains", "base alone", "minutes",
              "best published", "as good?", *published.METHODS]
    example = next(iter(first_seeds.values()))
    return DEFAULTS.format(table=markdown.table(header, [row(name, r) for name, r in found.items()]), means=means(first_seeds),
                           summary=summary(first_seeds), commands=markdown.commands(example))


def render(results):
    recipes = {name: r for name, r in results.items() if not name.startswith(DEFAULT)}
    markdown.write_page(NAME, PAGE.format(provenance=markdown.provenance(results.values(), NAME),
                                          defaults=defaults_section(results), recipes=recipes_real.section(recipes)))


SUMMARY = """With one seed each the models are as good as the best published figure of any method on **{count} of {sets}** sets within one
standard error ({at_bar} reach the figure itself; {all} sets in all). Models of which `ort-ed eval` says that its estimate cannot be trusted
do not count: {doubtful}."""

DEFAULTS = """
## Default settings

{summary}

{means}

{table}

The likelihood is that of the model with the best validation (`best.onnx`). Where log Z is not exact it is estimated by annealing
forwards and in reverse: the first figure is on average too good, the second, as far as chains mix, too bad, and the worse one is
compared. No bound follows: a mode that all chains miss is missing in both. The standard error is that
of the mean over the test rows; the error of log Z stands beside it. The published figures are means of the same test rows, so that
most of the first error is common to all. (!) marks what `ort-ed eval` warns of. "Base alone" is the exact likelihood of the learned base
distribution, where the defaults chose one.

ID-SPN: Rooshenas and Lowd 2014. MADE and VAE (a lower bound): as run by Peharz et al. 2020; the 146.90 of VAE on c20ng is the figure
printed for cwebkb, too, and does not count. HCLT: regularised, mean of five seeds, from the authors' logs. CM-CLT: Correia et al., as
quoted by Watson et al. 2023. MoAT: Selvam et al. 2023. EXPC and XCN, ensembles of cutset networks: Di Mauro et al. 2021. LearnPSDD (10
bags; Liang, Bekker, Van den Broeck 2017), WinMine and bagged CNet hold the best figure of some sets.

All sets had these two commands, with other files and numbers of columns; seeds 2 and 3 stand in their names:

{commands}
"""

PAGE = """
# Real binary data

Mean negative log-likelihood of the test rows in nats (smaller is better) on the sets of the density-estimation benchmark, with the
benchmark's own split into training, validation and test rows. The published models are normalised by construction; an energy
model pays with an estimate of log Z.

{provenance}
{defaults}
{recipes}

## The files

`DATA/debd` has the benchmark's rows as packed bits. Its own text files, of UCLA-StarAI's repository
Density-Estimation-Datasets (`nltcs.train.data`, `nltcs.valid.data`, `nltcs.test.data`), are read as they are and give the
same rows.
"""
