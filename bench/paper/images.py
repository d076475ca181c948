"""Binary images (the paper, Table 2) on two CPU cores, and what the paper's own recipe would cost here."""
from . import experiment, markdown

NAME = "images"
SIDE = ["--columns", 784]
# Training rows, validation rows (none: as many as in the paper are held out), test rows, options for grey rows, which are drawn
# anew at every use, and the paper's NLL of ED-Bern.
SETS = {
    "static-mnist": ("mnist_static_train.bits", "mnist_static_valid.bits", "mnist_static_test.bits", [], 95.38),
    "dynamic-mnist": ("mnist_grey_train.u8", None, "mnist_dynamic_test.bits",
                      ["--binarise", "dynamic", "--validation-fraction", 0.16667, "--validation-rows", 10000], 97.03),
    "omniglot": ("omniglot28_grey_train.u8", None, "omniglot28_test.bits",
                 ["--binarise", "dynamic", "--validation-fraction", 0.05525], 97.87),
    "caltech": ("caltech28_train.bits", "caltech28_valid.bits", "caltech28_test.bits", [], 96.36),
}
TEMPERATURES, CHAINS = 12000, 40
FULL = "full-recipe-cost"
FULL_STEPS = 30  # of the paper's recipe, for its rate


# One training says little of the next; more would take hours.
REPEATED = {"static-mnist": [2, 3], "caltech": [2, 3]}


def cells():
    return experiment.with_seeds(SETS, REPEATED) + [FULL]


def rows(name):
    return experiment.Settings.data / f"{name}.npy.gz"


def run(cell):
    if cell.name == FULL:
        return run_full(cell)
    name, seed = experiment.name_and_seed(cell.name)
    train, valid, test, options, _ = SETS[name]
    validation = ["--validation", rows(valid)] if valid else []
    training = cell.train("images/cpu.toml", "--data", rows(train), *validation, *options, *SIDE, "--seed", seed)
    model = cell.with_gradient(training["best_model"])
    evaluation = cell.ort_ed("eval", model, "--data", rows(test), "--sampler", "dmala", "--step-size", 0.2,
                             "--temperatures", TEMPERATURES, "--chains", CHAINS, "--raise-rows", CHAINS, "--raise-chains", 1,
                             "--samples", 0, "--json")
    cell.ort_ed("sample", model, "-n", 100, "--sampler", "dmala", "--steps", 2000, "-o", cell.folder / "samples.npy",
                "--png", cell.folder / "samples.png")
    cell.finish({"seed": seed, "steps": training["steps"], "best": training["best"], "seconds": training["seconds"],
                 "evaluation": evaluation})


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
            f"{50000 * per_step / 86400:.1f} days on both cores of this machine: an extrapolation, not a run.")


def render(results):
    found = {name: r for name, r in results.items() if name != FULL}
    table = markdown.table(
        ["", "negative log-likelihood, nats", "effective chains", "training", "best step", "the paper, ED-Bern"],
        [[name, nll(r["evaluation"]), markdown.effective_chains(r["evaluation"]),
          f"{r['steps']} steps, {markdown.seconds(r['seconds'])}", str(r["best"]["step"]), f"{SETS[experiment.name_and_seed(name)[0]][4]}"]
         for name, r in found.items()])
    pictures = "\n".join(markdown.picture(f"samples-{n}", experiment.run_file(NAME, n, "samples.png")) for n in found)
    markdown.write_page(NAME, PAGE.format(
        paper=markdown.PAPER,
        provenance=markdown.provenance(results.values(), NAME), table=table, full=full_cost(results.get(FULL)),
        temperatures=TEMPERATURES, chains=CHAINS,
        pictures=pictures, commands="\n".join(f"\n### {n}\n\n{markdown.commands(r)}" for n, r in results.items())))


PAGE = """
# Binary images (the paper, Table 2), as far as two cores go

{provenance}

{table}

The last column is that of Table 2 of the paper, {paper}. The likelihood is that of the model with the lowest validation loss (`best.onnx`); {temperatures:,} temperatures, {chains} chains.
AIS gives log Z on average too low and so a likelihood that is too good (first figure); reverse AIS from the model's own samples
(second) errs to the other side as far as chains mix; RAISE from test rows tells of what the annealing generates, not of the model. With few effective chains the estimates have large errors of their
own, which the standard errors do not show: (!) marks those that `ort-ed eval` itself warns of.

Trainings scatter by some nats: static MNIST was trained twice, and an earlier build had 105.5 to 106.0 (RAISE 107.8) by the same
recipe and seed. The steps of both builds agree to rounding (losses of the first 60 steps to a millionth); what rounding becomes in 10,000 steps
is another model. The second one has only one or two effective chains, so that its two estimates are far apart; RAISE puts both models at
the same 110.

What differs from the paper: the network has 16 feature maps and five residual blocks instead of 64 and eight; M is 2 instead of
32 and epsilon 0.002 instead of 0.001; 10,000 steps of 64 rows on one core instead of 50,000 of 100 on a GPU; for that a rate of
0.002 with cosine decay, 500 steps of warm-up and gradients clipped at 1, instead of a constant 0.0001 after 10,000 steps without
clipping; the best of ten models by the validation loss instead of by AIS on validation rows; AIS had 300,000 temperatures and 500
chains there. The Omniglot rows are made from the original drawings and are not the file of the literature: its figure is not
comparable with published ones.

`DATA` has the images as packed bits (grey ones as bytes). Static MNIST is said to be Larochelle's binarisation
(`binarized_mnist_*.amat`, read as they are). Of dynamic MNIST and Omniglot every use draws other bits of the grey rows, a sixth
and 1,345 rows are held out, and the test rows are one draw; the original IDX files of MNIST are read as they are. Caltech is
`caltech101_silhouettes_28_split1.mat` with the object as ones and the images upright:

```python
import numpy, scipy.io
rows = scipy.io.loadmat("caltech101_silhouettes_28_split1.mat")["train_data"]
numpy.save("caltech_train.npy", 1 - rows.reshape(-1, 28, 28).transpose(0, 2, 1).reshape(-1, 784))
```

{full}

{pictures}

## Commands
{commands}
"""
