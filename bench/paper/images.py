"""Binary images (the paper, Table 2) on two CPU cores, and what the paper's own recipe would cost here."""
from . import experiment, markdown

NAME = "images"
SIDE = ["--columns", 784]
# Training rows, validation rows, test rows, options for grey rows, and the paper's NLL of ED-Bern.
SETS = {
    "static-mnist": ("mnist_static_train.bits", "mnist_static_valid.bits", "mnist_static_test.bits", [], 95.38),
    "dynamic-mnist": ("mnist_grey_train.u8", "mnist_dynamic_valid.bits", "mnist_dynamic_test.bits",
                      ["--binarise", "dynamic"], 97.03),
    "omniglot": ("omniglot28_train.bits", "omniglot28_valid.bits", "omniglot28_test.bits", [], 97.87),
    "caltech": ("caltech28_train.bits", "caltech28_valid.bits", "caltech28_test.bits", [], 96.36),
}
FULL = "full-recipe-cost"
FULL_STEPS = 30  # of the paper's recipe, for its rate


def cells():
    return list(SETS) + [FULL]


def rows(name):
    return experiment.Settings.data / f"{name}.npy.gz"


def run(cell):
    if cell.name == FULL:
        return run_full(cell)
    train, valid, test, options, _ = SETS[cell.name]
    training = cell.train("images/cpu.toml", "--data", rows(train), "--validation", rows(valid), *SIDE, *options,
                          "--seed", 1)
    model = cell.with_gradient(training["model"])
    evaluation = cell.ort_ed("eval", model, "--data", rows(test), "--sampler", "dmala", "--step-size", 0.2,
                             "--temperatures", 5000, "--chains", 100, "--raise-rows", 50, "--raise-chains", 1,
                             "--samples", 0, "--json")
    cell.ort_ed("sample", model, "-n", 100, "--sampler", "dmala", "--steps", 2000, "-o", cell.folder / "samples.npy",
                "--png", cell.folder / "samples.png")
    cell.finish({"seed": 1, "steps": training["steps"], "seconds": training["seconds"], "evaluation": evaluation})


def run_full(cell):
    """The rate of the paper's recipe on this machine."""
    training = cell.train("images/paper.toml", "--data", rows(SETS["static-mnist"][0]), *SIDE, "--validation-fraction", 0,
                          "--steps", FULL_STEPS, "--warmup-steps", 0, "--log-every", 5, "--seed", 1)
    cell.finish({"steps": FULL_STEPS, "seconds": training["seconds"]})


def nll(evaluation):
    raised = evaluation["nll_raise"]
    return (f"{evaluation['nll']:.2f} to {evaluation['nll_reverse']:.2f} (± {evaluation['nll_error']['total']:.2f}); "
            f"RAISE {raised['value']:.2f} ± {raised['standard_error']:.2f}")


def full_cost(result):
    if not result:
        return "Not measured yet."
    per_step = result["seconds"] / result["steps"]
    return (f"The paper's recipe (`recipes/images/paper.toml`: 64 feature maps, M = 32, batch 100, 50,000 steps) took "
            f"{per_step:.2f} s a step over {result['steps']} steps here, so the whole of it would take about "
            f"{50000 * per_step / 86400:.1f} days on this machine: an extrapolation, not a run.")


def render(results):
    found = {name: r for name, r in results.items() if name != FULL}
    table = markdown.table(
        ["", "negative log-likelihood, nats", "training", "the paper, ED-Bern"],
        [[name, nll(r["evaluation"]), f"{r['steps']} steps, {markdown.seconds(r['seconds'])}", f"{SETS[name][4]}"]
         for name, r in found.items()])
    pictures = "\n".join(markdown.picture(f"samples-{n}", experiment.run_file(NAME, n, "samples.png")) for n in found)
    markdown.write_page(NAME, PAGE.format(
        provenance=markdown.provenance(results.values(), NAME), table=table, full=full_cost(results.get(FULL)),
        pictures=pictures, commands="\n".join(f"\n### {n}\n\n{markdown.commands(r)}" for n, r in results.items())))


PAGE = """
# Binary images (the paper, Table 2), as far as two cores go

{provenance}

{table}

What differs from the paper: the network has 16 feature maps and five residual blocks instead of 64 and eight, M is 2
instead of 32, epsilon 0.002 instead of 0.001, and the training is 10,000 steps of 64 rows on one core instead of 50,000
steps of 100 rows on a GPU; AIS has 5,000 temperatures and 100 chains instead of 300,000 and 500. AIS gives log Z on average
too low and so a likelihood that is too good (first figure); reverse AIS from the model's own samples (second) and RAISE from
test rows err to the other side. The Omniglot rows are made from the original drawings and are not the file of the
literature: its figure is not comparable with published ones.

`DATA` has the images as packed bits (grey ones as bytes). Static MNIST is Larochelle's binarisation, `binarized_mnist_*.amat`,
and dynamic MNIST the original IDX files, of which every epoch draws other bits and the test rows are one draw; both are read
as they are. Caltech is `caltech101_silhouettes_28_split1.mat` with the object as ones.

{full}

{pictures}

## Commands
{commands}
"""
