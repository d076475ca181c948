"""Real binary data: test log-likelihoods on the density-estimation benchmark, next to published ones."""
from . import experiment, markdown

NAME = "real"
# Dimension, and the published test log-likelihoods of LearnSPN (Gens and Domingos, ICML 2013) and ID-SPN (Rooshenas and
# Lowd, ICML 2014).
SETS = {
    "nltcs": (16, -6.11, -6.02),
    "msnbc": (17, -6.11, -6.04),
    "plants": (69, -12.98, -12.54),
    "dna": (180, -82.52, -81.21),
    "tmovie": (500, -52.48, -51.51),
}


def cells():
    return list(SETS)


def run(cell):
    folder = experiment.Settings.data / "debd"
    files = {split: folder / f"{cell.name}_{split}.bits.npy.gz" for split in ("train", "valid", "test")}
    columns = ["--columns", SETS[cell.name][0]]
    training = cell.train(f"real/{cell.name}.toml", "--data", files["train"], "--validation", files["valid"], *columns,
                          "--seed", 1)
    annealing = [] if SETS[cell.name][0] <= 20 else ["--temperatures", 2000, "--chains", 500, "--raise-rows", 100]
    evaluation = cell.ort_ed("eval", training["model"], "--data", files["test"], *annealing, "--samples", 0,
                             "--json")
    cell.finish({"seed": 1, "steps": training["steps"], "seconds": training["seconds"], "evaluation": evaluation})


def likelihood(evaluation):
    if "nll_reverse" not in evaluation:
        return f"{-evaluation['nll']:.3f} (exact)"
    raised = evaluation.get("nll_raise", {}).get("value")
    return (f"{-evaluation['nll']:.2f} to {-evaluation['nll_reverse']:.2f}"
            + (f"; RAISE {-raised:.2f}" if raised is not None else ""))


def render(results):
    rows = [[name, str(SETS[name][0]), likelihood(r["evaluation"]), f"± {r['evaluation']['nll_error']['total']:.2f}",
             markdown.seconds(r["seconds"]), f"{SETS[name][1]}", f"{SETS[name][2]}"] for name, r in results.items()]
    table = markdown.table(["", "D", "ort-ed", "standard error", "training", "LearnSPN", "ID-SPN"], rows)
    text = PAGE.format(provenance=markdown.provenance(results.values(), NAME), table=table)
    markdown.write_page(NAME, text + "\n".join(f"\n### {n}\n\n{markdown.commands(r)}\n" for n, r in results.items()))


PAGE = """
# Real binary data

Mean test log-likelihood in nats (larger is better) on sets of the density-estimation benchmark, with the benchmark's own
split into training, validation and test rows. log Z is exact up to 20 variables; beyond, the likelihood is bracketed by
annealed importance sampling (first figure: on average too high) and its reverse, and RAISE from test rows is on average too
low.

{provenance}

{table}

LearnSPN is Gens and Domingos, ICML 2013; ID-SPN is Rooshenas and Lowd, ICML 2014: their published figures on the same splits. Those models are normalised by construction; an energy model pays with an estimate of log Z.

## Commands
"""
