"""Tables of UCI with the default settings of `ort-ed train`: likelihoods, odd rows beside detectors of others, and drawn rows beside
generators of others."""
import collections
import math
import time

import numpy

from . import detectors, experiment, markdown, synthetic, table_files

NAME = "tables"
BUDGET = ["--steps", 1000]  # of the network on the base: what all trainings have in common
# Further seeds, of the trainings and of what others draw; the rows held out stay the same.
REPEATED = {name: [2, 3] for name in ("odd_car", "odd_splice", "odd_vote", "likelihood_nursery", "likelihood_vote", "rows_ort-ed")}
OURS = "ort-ed"
GENERATORS = ["ctgan", "tvae"]
CLASS_NAMES = {"ctgan": "CTGAN", "tvae": "TVAE"}
REAL, DRAWN = "real", OURS  # rows that a classifier learns from
# Sets whose odd rows miss cells that no row of the usual class misses.
WITH_HOLES = {"soybean"}
POSITIVE = ">50K"
CHAINS = 500  # for samples: one chain for each of 26,000 rows would take hours


def cells():
    return experiment.with_seeds(
        [f"odd_{name}" for name in table_files.SETS] + [f"likelihood_{name}" for name in table_files.SETS]
        + [f"rows_{source}" for source in (REAL, DRAWN, *GENERATORS)], REPEATED)


def run(cell):
    cell_name, seed = experiment.name_and_seed(cell.name)
    kind, name = cell_name.split("_", 1)
    {"odd": run_odd, "likelihood": run_likelihood, "rows": run_rows}[kind](cell, name, seed)


def train(cell, table, seed):
    """By default settings; the files are written again each time, from the same split."""
    return cell.train(None, "--data", table.write(cell.folder / "train.csv"), "--seed", seed, *BUDGET)


def run_odd(cell, name, seed):
    """Trained on most rows of the most frequent class, asked to tell its other rows from those of the other classes."""
    table = table_files.load(name)
    usual = table_files.frequent_class(table)
    usual_train, usual_test = table_files.split(table.part(table.classes() == usual))
    others = table.part(table.classes() != usual)
    test = table_files.Table(table.names, numpy.concatenate([usual_test.rows, others.rows])).without_class()
    odd = numpy.arange(len(test.rows)) >= len(usual_test.rows)
    training = train(cell, usual_train.without_class(), seed)
    energies = cell.folder / "energies.csv"
    holes = ["--marginalise"] if name in WITH_HOLES else []
    cell.ort_ed("score", training["best_model"], test.write(cell.folder / "test.csv"), "-o", energies, *holes)
    found = {OURS: (energies_of(energies), training["seconds"])} | detectors.scores(usual_train.without_class(), test, seed)
    cell.finish({"seed": seed, "class": usual, "train_rows": len(usual_train.rows), "odd_rows": int(odd.sum()),
                 "usual_rows": int((~odd).sum()), "columns": len(test.names), "budget": BUDGET,
                 "detectors": {d: {**detectors.area_under_curve(odd, s), "seconds": t} for d, (s, t) in found.items()}})


def energies_of(path):
    return table_files.read_csv(path, ["energy"]).rows[:, 0].astype(float)


def run_likelihood(cell, name, seed):
    train_rows, test_rows = table_files.split(table_files.load(name))
    training = train(cell, train_rows, seed)
    evaluation = cell.ort_ed("eval", training["best_model"], "--data", test_rows.write(cell.folder / "test.csv"),
                             "--samples", 0, "--raise-rows", 0, "--json")
    independent = {} if name == "adult" else {"independent": independent_columns(train_rows, test_rows)}
    cell.finish({"seed": seed, "train_rows": len(train_rows.rows), "columns": len(train_rows.names), "seconds": training["seconds"],
                 "budget": BUDGET, "evaluation": evaluation, **independent})


def independent_columns(train_rows, test_rows):
    """Nats of a test row where each column has the frequencies of the training rows, each count one more; labels that occur less
    than twice are one, as in ort-ed."""
    total = 0.0
    for trained, tested in zip(train_rows.rows.T, test_rows.rows.T):
        counts = collections.Counter(trained)
        kept = {label: count for label, count in counts.items() if count >= 2}
        if len(counts) == 1:
            continue
        rest = len(trained) - sum(kept.values())
        whole = len(trained) + len(kept) + 1
        total -= sum(math.log((kept.get(label, rest) + 1) / whole) for label in tested) / len(tested)
    return total


def run_rows(cell, source, seed):
    """What rows of a source are worth: the real ones that were held out, or as many as those trained on, drawn by a model."""
    train_rows, test_rows = table_files.split(table_files.load("adult"))
    start = time.monotonic()
    if source == REAL:
        drawn, learned_from = test_rows, train_rows
    else:
        drawn = learned_from = our_rows(cell, train_rows, seed) if source == OURS else \
            synthetic.drawn_by(CLASS_NAMES[source], train_rows, len(train_rows.rows))
    seconds = time.monotonic() - start
    cell.finish({"seed": seed, "rows": len(drawn.rows), "seconds": seconds, "budget": BUDGET,
                 **synthetic.shape_and_trend(train_rows, drawn),
                 "auc": synthetic.classifier_auc(learned_from, test_rows, POSITIVE)})


def our_rows(cell, train_rows, seed):
    """By the model whose likelihood was measured, with seed 1."""
    trained = experiment.Cell(NAME, "likelihood_adult" + (f"-seed-{seed}" if seed > 1 else ""))
    model = train(trained, train_rows, seed)["best_model"]
    cell.commands += trained.commands
    samples = cell.folder / "samples.csv"
    samples.parent.mkdir(parents=True, exist_ok=True)
    cell.ort_ed("sample", model, "-n", len(train_rows.rows), "--chains", CHAINS, "--seed", seed, "-o", samples)
    return table_files.read_csv(samples, train_rows.names)


def of_kind(results, kind):
    """{name: results of all seeds}."""
    found = {}
    for cell_name, result in results.items():
        if cell_name.startswith(f"{kind}_"):
            found.setdefault(experiment.name_and_seed(cell_name)[0].split("_", 1)[1], []).append(result)
    return found


def firsts(found):
    return [results[0] for results in found.values()]


def rounded(result):
    return {d: round(v["auc"], 3) for d, v in result["detectors"].items()}


def ranks(areas):
    """1 for the largest; equals share the mean of their places."""
    return {d: 1 + sum(b > a for b in areas.values()) + (sum(b == a for b in areas.values()) - 1) / 2 for d, a in areas.items()}


def odd_section(results):
    found = of_kind(results, "odd")
    if not found:
        return ""
    names = [OURS, *detectors.NAMES]
    rows = [[name, r[0]["class"], f"{r[0]['train_rows']:,}", f"{r[0]['usual_rows']:,} and {r[0]['odd_rows']:,}",
             *(area_shown(r, d) for d in names)] for name, r in found.items()]
    all_ranks = [ranks(rounded(r)) for r in firsts(found)]
    rows.append(["**mean rank**", "", "", "", *(f"**{numpy.mean([r[d] for r in all_ranks]):.2f}**" for d in names)])
    rows.append(["mean", "", "", "", *(f"{numpy.mean([r['detectors'][d]['auc'] for r in firsts(found)]):.3f}" for d in names)])
    rows.append(["seconds in all", "", "", "", *(f"{sum(r['detectors'][d]['seconds'] for r in firsts(found)):.0f}" for d in names)])
    return ODD.format(table=markdown.table(["", "usual class", "rows trained on", "usual and odd rows", *names], rows),
                      commands=markdown.commands(firsts(found)[0]))


def area_shown(results, detector):
    """Of the first seed with its error, and of the others."""
    value = results[0]["detectors"][detector]
    best = max(rounded(results[0]).values()) == rounded(results[0])[detector]
    text = f"{value['auc']:.3f} ± {value['standard_error']:.3f}"
    return "; ".join([f"**{text}**" if best else text, *(f"{r['detectors'][detector]['auc']:.3f}" for r in results[1:])])


def likelihood_section(results):
    found = of_kind(results, "likelihood")
    if not found:
        return ""
    rows = [[name, str(r["columns"]), f"{r['train_rows']:,}", f"{r['evaluation']['rows']:,}",
             "; ".join(markdown.estimates(one["evaluation"]) for one in found[name]),
             f"{r['evaluation']['nll_error']['test_set']:.2f}", f"{r['evaluation']['nll_error']['log_z']:.3f}",
             markdown.effective_chains(r["evaluation"]), f"{r['independent']:.2f}" if "independent" in r else "",
             f"{r['seconds'] / 60:.1f}"] for name, r in zip(found, firsts(found))]
    header = ["", "columns", "rows trained on", "test rows", "nats a row", "standard error", "of log Z", "effective chains",
              "independent columns", "minutes"]
    return LIKELIHOOD.format(table=markdown.table(header, rows), commands=markdown.commands(firsts(found)[0]))


def rows_section(results):
    found = of_kind(results, "rows")
    if not found:
        return ""
    labels = {REAL: "real rows", DRAWN: OURS, **CLASS_NAMES}
    rows = [[labels[source], *("; ".join(f"{one[score]:.3f}" for one in found[source]) for score in ("shape", "trend", "auc")),
             "" if source == REAL else f"{(sum(c['seconds'] for c in r['commands']) or r['seconds']) / 60:.1f}"]
            for source, r in zip(found, firsts(found))]
    commands = markdown.commands(found[DRAWN][0]) if DRAWN in found else ""
    return ROWS.format(table=markdown.table(["", "shape", "trend", "AUC of a classifier", "minutes"], rows), commands=commands)


def render(results):
    markdown.write_page(NAME, PAGE.format(
        provenance=markdown.provenance(results.values(), NAME), odd=odd_section(results),
        likelihood=likelihood_section(results), rows=rows_section(results), share=f"{table_files.TEST_SHARE:.0%}"))


ODD = """
## Odd rows

Without the class column, `ort-ed train` learns four fifths of the rows of the most frequent class. The area under the curve (AUC) is
the probability that a row of another class has a higher energy than one of the other fifth; with its standard error. The others had
the same rows at the defaults of scikit-learn and PyOD (ECOD, KNN), texts as one bit for each category and numbers scaled to 0 to 1;
BernoulliRBM scores by its free energy. Areas that are equal to three digits share their rank. Odd rows of soybean miss cells that no usual
row misses: ort-ed sums over them (`score --marginalise`); to the others a missing cell is a category.

{table}

{commands}
"""

LIKELIHOOD = """
## Likelihood

Negative log-likelihood of test rows, class included, in nats a row: of the states that `ort-ed train` makes of the columns, so that numbers count as
their bins. "Independent columns" is a model in which each column has the frequencies of the training rows. Where log Z is not exact the
estimates are those of annealing forwards and in reverse, as in [real.md](real.md).

{table}

{commands}
"""

ROWS = """
## Drawn rows of adult

As many rows as were trained on are drawn, beside those of CTGAN and TVAE (Xu et al. 2019, their package at its defaults). Shape
and trend compare them with the rows trained on, column by column and pair by pair (`bench/paper/synthetic.py` has the definitions); 1 is best,
and "real rows" are the held-out ones, so that their scores are what chance leaves. The classifier (gradient boosting of
scikit-learn) learns income from the drawn rows and is tested on held-out real ones; "real rows" learned from those trained on.

{table}

{commands}
"""

PAGE = """
# Tables

Sets of UCI with **default settings only**: one command line for all. {share} of the rows, drawn with a fixed seed, are held out for
the tests; of the others `ort-ed train` holds out its own for validation. Where a cell has three figures, the second and third are those
of seeds 2 and 3, of the training and of detectors that draw numbers; ranks and means are those of seed 1.

{provenance} It needs `tools/setup.sh --tables`.
{odd}
{likelihood}
{rows}
"""
