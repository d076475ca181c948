"""What the settings of energy discrepancy do (the paper, sections D.2): short trainings on pinwheel."""
from . import experiment, markdown

NAME = "ablations"
STEPS = 1500
EPSILONS = ["0.0001", "0.001", "0.01", "0.1", "0.5", "0.9", "0.99", "0.999", "0.9999"]
WINDOWS = ["2", "4", "8", "16", "32"]
STABILISERS = ["0", "0.25", "1"]
NEGATIVES = ["4", "32"]
SHOWN = ["epsilon_0.001", "epsilon_0.999", "window_2", "w-and-M_0_4"]


def options_of(name):
    kind, *values = name.split("_")
    if kind == "epsilon":
        return ["--epsilon", values[0]]
    if kind == "window":
        return ["--method", "pool", "--window", values[0]]
    return ["--w", values[0], "--negatives", values[1]]


def cells():
    return ([f"epsilon_{e}" for e in EPSILONS] + [f"window_{w}" for w in WINDOWS]
            + [f"w-and-M_{w}_{m}" for w in STABILISERS for m in NEGATIVES])


def run(cell):
    training = cell.train("densities/bernoulli.toml", "--data", "synth:pinwheel", "--steps", STEPS, "--seed", 1,
                          *options_of(cell.name))
    test = experiment.test_rows(cell, "pinwheel-test.npy", "pinwheel", "-n", 20000, "--seed", 2)
    evaluation = cell.ort_ed("eval", training["model"], "--data", test, "--density", "pinwheel", "--temperatures", 200,
                             "--chains", 200, "--raise-rows", 0, "--samples", 0, "--json")
    cell.ort_ed("plot", "landscape", training["model"], "--density", "pinwheel", "-o", cell.folder / "landscape.png",
                keep=False)
    cell.finish({"seed": 1, "steps": STEPS, "seconds": training["seconds"], "evaluation": evaluation})


def above(result):
    e = result["evaluation"]
    return f"{e['nll_above_entropy']:.3f} to {e['nll_reverse'] - e['entropy']:.3f}"


def section(results, kind, header):
    rows = [[*name.split("_")[1:], above(r)] for name, r in results.items() if name.split("_")[0] == kind]
    return markdown.table([*header, "nats above the entropy"], rows)


def render(results):
    pictures = [markdown.picture(f"ablation-{name}", experiment.run_file(NAME, name, "landscape.png"))
                for name in SHOWN if name in results]
    markdown.write_page(NAME, PAGE.format(
        provenance=markdown.provenance(results.values(), NAME), steps=STEPS,
        epsilon=section(results, "epsilon", ["epsilon"]), window=section(results, "window", ["window"]),
        w=section(results, "w-and-M", ["w", "M"]),
        pictures="\n".join(pictures)))


PAGE = """
# What the settings do (the paper, section D.2)

Pinwheel, {steps} steps of the recipe of [Table 1](densities.md) with one setting changed; the likelihood by annealed
importance sampling from both sides. Where the two figures are far apart, log Z is not known.

{provenance}

## epsilon of ED-Bern

{epsilon}

## Window of ED-Pool

{window}

## w and M

{w}

{pictures}
"""
