"""What the settings of energy discrepancy do (the paper, section D.2), and what made the recipe of Table 1: short trainings on
pinwheel."""
from . import experiment, markdown, plane

NAME = "ablations"
DENSITY = "pinwheel"
STEPS = 3000
EPSILONS = ["0.0001", "0.001", "0.01", "0.1", "0.5", "0.9", "0.99", "0.999", "0.9999"]
WINDOWS = ["2", "4", "8", "16", "32"]
STABILISERS = ["0", "0.25", "1"]
NEGATIVES = ["1", "4", "32"]
PAPER_STEPS = 1000
DIVERGED = 10  # nats above the entropy: a uniform distribution has 2.6
PAPER = ["--batch-size", 128, "--learning-rate", 0.004, "--steps", PAPER_STEPS]
# Measured before the recipe's first layer saw spins: one thing changed, at the same number of energies.
BITS = ["--input", "bits"]
THE_RECIPE = "the recipe"
TRIALS = {
    THE_RECIPE: [],
    "bits instead of spins": [],
    "M = 32, batch 36": ["--negatives", 32, "--batch-size", 36],
    "M = 8, batch 133": ["--negatives", 8, "--batch-size", 133],
    "M = 1, batch 600": ["--negatives", 1, "--batch-size", 600],
    "batch 1600, a quarter of the steps": ["--batch-size", 1600, "--steps", STEPS // 4, "--warmup-steps", 50],
    "rate 0.002": ["--learning-rate", 0.002],
    "rate 0.012": ["--learning-rate", 0.012],
    "constant rate 0.002": ["--decay", "constant", "--learning-rate", 0.002],
    "constant rate 0.002, no average of weights": ["--decay", "constant", "--learning-rate", 0.002, "--ema", 0],
    "no average of weights": ["--ema", 0],
    "epsilon 0.03, 0.1 and 0.3 mixed": ["--epsilon", "0.03,0.1,0.3"],
    "epsilon from 0.3 to 0.05": ["--epsilon", 0.3, "--epsilon-end", 0.05],
    "grid + bernoulli": ["--method", "grid+bernoulli"],
    "grid enumerated + bernoulli, batch 36": ["--method", "grid+bernoulli", "--exact", "--batch-size", 36],
    "pool + bernoulli": ["--method", "pool+bernoulli"],
    "erase 8 variables + bernoulli": ["--method", "erase+bernoulli", "--block", 8],
}


REPEATED = {name: [2, 3] for name in ("trial_the-recipe", "trial_rate-0.012", "epsilon_0.01", "epsilon_0.1", "window_2", "window_8",
                                      "w-and-M_0.25_4", "w-and-M_1_4")}


def trial_cell(trial):
    return "trial_" + trial.replace(" ", "-").replace(",", "").replace("=", "is").replace("+", "and")


def settings():
    """What each cell trains with."""
    cells = {f"epsilon_{e}": ["--epsilon", e, "--negatives", 32, *PAPER] for e in EPSILONS}
    cells |= {f"window_{w}": ["--method", "pool", "--window", w, "--negatives", 32, *PAPER] for w in WINDOWS}
    cells |= {f"w-and-M_{w}_{m}": ["--w", w, "--negatives", m, *PAPER] for w in STABILISERS for m in NEGATIVES}
    return cells | {trial_cell(trial): trial_settings(trial) for trial in TRIALS}


def trial_settings(trial):
    options = TRIALS[trial] if trial == THE_RECIPE else [*BITS, *TRIALS[trial]]
    return options if "--steps" in options else [*options, "--steps", STEPS]


def cells():
    return experiment.with_seeds(settings(), REPEATED)


def run(cell):
    name, seed = experiment.name_and_seed(cell.name)
    training = cell.train("densities/bernoulli.toml", "--data", f"synth:{DENSITY}", "--seed", seed, *settings()[name])
    evaluation = plane.evaluate(cell, DENSITY, training["model"], with_samples=False)
    plane.draw_landscape(cell, DENSITY, training["model"], grid=60)
    cell.finish({"seed": seed, "steps": training["steps"], "seconds": training["seconds"], **evaluation})


def above(found):
    """Of the first seed with its error, and of the others."""
    differences = [plane.above_entropy(result, result["log_z_histogram"]) for result in found]
    shown = [plane.shown(*differences[0]), *(f"{difference:+.3f}" for difference, _ in differences[1:])]
    return "; ".join(text if difference[0] < DIVERGED else "diverged" for text, difference in zip(shown, differences))


def by_cell(results):
    """{name: results of all seeds}."""
    found = {}
    for name, result in results.items():
        found.setdefault(experiment.name_and_seed(name)[0], []).append(result)
    return found


def section(title, text, header, rows):
    """A part of the page, if there is anything in it yet."""
    return f"## {title}\n\n{text}\n\n{markdown.table(header, rows)}\n" if rows else ""


def rows_of(results, kind):
    return [[*name.split("_")[1:], above(found), landscape(name)] for name, found in by_cell(results).items()
            if name.split("_")[0] == kind]


def landscape(name):
    return markdown.picture(f"ablation-{name}", experiment.run_file(NAME, name, "landscape.png"))


def trials(results):
    found = by_cell(results)
    return [[trial, above(found[trial_cell(trial)]), markdown.seconds(found[trial_cell(trial)][0]["seconds"])]
            for trial in TRIALS if trial_cell(trial) in found]


def render(results):
    nats = "nats above the entropy"
    sections = [
        section("What made the recipe of Table 1", RECIPE.format(steps=STEPS), ["", nats, "training"], trials(results)),
        section("epsilon of ED-Bern", EPSILON, ["epsilon", nats, "energy"], rows_of(results, "epsilon")),
        section("Window of ED-Pool", POOL, ["window", nats, "energy"], rows_of(results, "window")),
        section("w and M", STABILITY.format(steps=PAPER_STEPS), ["w", "M", nats, "energy"], rows_of(results, "w-and-M")),
    ]
    markdown.write_page(NAME, PAGE.format(paper=markdown.PAPER, provenance=markdown.provenance(results.values(), NAME),
                                          sections="\n".join(filter(None, sections))))


RECIPE = """{steps} steps of 400 points with M = 2 negatives each, 1,200 energies a step. The lines below the second have bits, too,
and one more setting changed; they spend as many energies in all. What helps: few negatives with many points, spins, a rate of
0.006 or more that decays (at 0.002 the decay does harm in so few steps), or else the average of weights. What does not: the
average on top of a decay, mixed or shrinking epsilon, grid or pool beside bernoulli; enumerating the grid, 33 energies a point, does
harm. The last three were trained beside other work, so that their times do not compare."""
PAPER_SETTINGS = (f"Batches of 128 and M = 32 as in the paper, but {PAPER_STEPS:,} steps instead of 100,000, and for that rate 0.004 "
                  "with cosine decay and a first layer that sees spins.")
EPSILON = (PAPER_SETTINGS + " The paper finds the landscapes of 0.001 and 0.999 faithful, too; after a hundredth of its steps they "
           "are not yet.")
POOL = PAPER_SETTINGS + " Pool alone, as in the paper, and so without a word on how much mass each number of ones has."
STABILITY = """Batches of 128, {steps:,} steps. As the paper says: without w the loss diverges unless M is large, and a w above zero
mends it even for M = 1."""
PAGE = """
# What the settings do (the paper, section D.2)

The paper is {paper}. Short trainings on pinwheel (`recipes/densities/bernoulli.toml`), with changes as said. The likelihood is that of 400,000
test points; log Z is estimated with a histogram of true points as the proposal (`bench/paper/plane.py`). Where there are three figures,
they are those of three seeds.

{provenance}

{sections}"""
