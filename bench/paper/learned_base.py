"""Binary images (the paper, Table 2) on a learned base: the base by maximum likelihood, then a network on it by energy discrepancy."""
from . import experiment, images, markdown, real

NAME = "learned_base"
# What differs between the sets: small ones need fewer steps and more dropout.
SETTINGS = {
    "static-mnist": {"base": [], "network": []},
    "dynamic-mnist": {"base": [], "network": []},
    "omniglot": {"base": ["--steps", 1600], "network": ["--steps", 400]},
    "caltech": {"base": ["--steps", 2000, "--validate-every", 100, "--dropout", 0.5, "--l1", 1e-4, "--patience", 6],
                "network": ["--steps", 600, "--validate-every", 50, "--patience", 4]},
}
# The best figure of ED in the paper's table, and of any of its methods.
PAPER_ED = {"static-mnist": 90.2, "dynamic-mnist": 81.3, "omniglot": 94.6, "caltech": 96.4}
GOALS = {"static-mnist": 80.0, "dynamic-mnist": 80.5, "omniglot": 94.6, "caltech": 96.2}
TEMPERATURES, CHAINS = 300, 100
REPEATED = {"static-mnist": [2, 3], "caltech": [2, 3]}


def cells():
    return experiment.with_seeds(SETTINGS, REPEATED)


def data_options(name, seed):
    train, valid, _, options, _ = images.SETS[name]
    validation = ["--validation", images.rows(valid)] if valid else []
    return ["--data", images.rows(train), *validation, *options, *images.SIDE, "--validation-rows", 1000, "--seed", seed]


def without_repeats(options):
    """The last one of each option counts, and `ort-ed` refuses to hear it twice."""
    pairs = {options[i]: options[i + 1] for i in range(0, len(options), 2)}
    return [word for pair in pairs.items() for word in pair]


def run(cell):
    name, seed = experiment.name_and_seed(cell.name)
    data = without_repeats(data_options(name, seed))
    settings = SETTINGS[name]
    base = cell.train("images/base.toml", *data, *settings["base"], run="base")
    network = cell.train("images/on_base.toml", *data, "--base", base["best_model"], *settings["network"])
    model = network["best_model"]
    evaluation = cell.ort_ed("eval", model, "--data", images.rows(images.SETS[name][2]), "--samples", 0, "--raise-rows", 0,
                             "--temperatures", TEMPERATURES, "--chains", CHAINS, "--json")
    cell.ort_ed("sample", model, "-n", 100, "--chains", 100, "--steps", 60, "--sampler", "refill", "--seed", 5,
                "-o", cell.folder / "samples.npy", "--png", cell.folder / "samples.png")
    cell.finish({"seed": seed, "base": phase(base), "network": phase(network), "evaluation": evaluation})


def phase(training):
    return {"steps": training["steps"], "best": training["best"], "seconds": training["seconds"]}


def verdict(name, evaluation):
    if markdown.unreliable(evaluation):
        return "not known (!)"
    reached = real.nll(evaluation) < GOALS[name]
    return "**reached**" if reached else f"missed by {real.nll(evaluation) - GOALS[name]:.2f}"


def row(cell_name, result, alone):
    name, _ = experiment.name_and_seed(cell_name)
    evaluation = result["evaluation"]
    base = evaluation["nll_base"]
    error = evaluation["nll_error"]["total"]
    return [cell_name, f"{base['value']:.2f} ± {base['standard_error']:.2f}",
            f"{evaluation['nll']:.2f} to {evaluation['nll_reverse']:.2f} ± {error:.2f}", markdown.effective_chains(evaluation),
            f"{alone['evaluation']['nll_reverse']:.2f}" if alone else "", f"{PAPER_ED[name]}", f"{GOALS[name]}",
            verdict(name, evaluation),
            f"{result['base']['steps']:,} steps, {markdown.seconds(result['base']['seconds'])}; "
            f"{result['network']['steps']:,} steps, {markdown.seconds(result['network']['seconds'])}"]


def render(results):
    alone = {name: experiment.Cell(images.NAME, name).result() for name in results}
    table = markdown.table(["", "base alone (exact)", "with the network", "effective chains", "ED alone (images.md)", "the paper's best ED",
                            "goal", "", "training"], [row(name, r, alone[name]) for name, r in results.items()])
    pictures = "\n\n".join(f"{name}\n\n" + markdown.picture(f"learned-{name}", experiment.run_file(NAME, name, "samples.png"))
                           for name in results)
    commands = "\n".join(f"\n### {name}\n\n{markdown.commands(r)}" for name, r in results.items())
    markdown.write_page(NAME, PAGE.format(paper=markdown.PAPER, provenance=markdown.provenance(results.values(), NAME), table=table, pictures=pictures,
                                          temperatures=TEMPERATURES, chains=CHAINS, commands=commands))


PAGE = """
# Images on a learned base

{provenance}

Negative log-likelihood of the test rows in nats. The base is normalised, so that its likelihood is exact. That of the model needs log Z: by
annealing from the base with {temperatures} temperatures and {chains} chains, forwards and in reverse; the worse of the two is compared.

{table}

(!) marks what `ort-ed eval` warns of. On dynamic MNIST a few of 100 chains carry nearly all of log Z: they found what the others miss, rows to
which the network gives too much, so that the likelihood is not known and 81.50 is the figure to go by. Its base alone is the surer model.

The base does most of it. On Caltech 101 the network gains one nat more; on Omniglot it had gained next to nothing after its steps, and
the figure is the base's.

The paper is {paper}; its figures are those of Table 2. It trained its networks on a GPU; the times here are those of one core each of a machine with other work. Omniglot's rows are made from the
original drawings and are not the file of the literature: its figure is not comparable with published ones.

Samples: 100 chains that started at draws of the base, 60 steps of refill each.

{pictures}

## What is due to the base, and what to the network

Static MNIST, earlier trials with other settings:

| | negative log-likelihood | how | training |
|---|---|---|---|
| base with a view (300 units; 7 x 15 pixels, 32 maps, 4 blocks) | 82.90 ± 0.20 | exact | 6,000 steps of 100 rows, 51 min on one core |
| with a residual network of 32 maps on it, by draws | **81.78** to **81.84** ± 0.22 | AIS from the base and in reverse, 59 and 67 of 100 chains effective | 750 steps of 256 rows, N = 512, 13 min on one core |
| base: masked autoencoder alone, one hidden layer of 1,000, dropout 0.2 | 89.30 ± 0.23 | exact | 6,000 steps of 100 rows, 2.6 min |
| with a residual network of 24 maps on it, by refill | 85.39 ± 0.23 | AIS from the base, 70 of 100 chains effective | 2,500 steps of 64 rows, M = 8, 17 min |
| ED alone, 16 maps, a Bernoulli base ([images.md](images.md)) | 109.45 to 109.89 | AIS, 13 of 40 chains effective | 29 min |

For comparison, published: ED-Bern 95.38 and ED-Grid 90.15 (the paper), GWG 80.01 and DMALA 79.46 (Zhang, Liu, Liu 2022), each with a
ResNet of 64 maps on a GPU; PixelCNN 81.30 (van den Oord, Kalchbrenner, Kavukcuoglu 2016).

On static MNIST both phases overfit: that base has 81.5 nats on the rows that it was trained on and 83.98 on 1,000 validation rows; the
network's gain over the base in training was 1.5 nats at step 720 and 1.9 at step 1,255, on validation rows 1.2 at step 750 and no more
afterwards. Dynamic MNIST draws other bits of its grey rows at every use, and its base does not overfit.

What helped: with `--head mean`, the paper's head, the network had learned nothing after 285 steps on this base; with `--head flat`, which
knows where a stroke is, it was ahead after 60. On a worse base (95.7 nats) draws learned ten times as much as refill in the
same time ([training.md](../training.md#on-a-learned-base)).

```
ort-ed train --data mnist_static_train.bits.npy.gz --validation mnist_static_valid.bits.npy.gz --columns 784 --image-shape 28x28 --threads 1 --validation-rows 1000 --model made --method likelihood --hidden 300 --dropout 0.3 --view 7x15 --maps 32 --blocks 4 --batch-size 100 --learning-rate 0.003 --warmup-steps 100 --ema 0.997 --l1 0.00005 --steps 6000 --validate-every 500 -o view
ort-ed train --data mnist_static_train.bits.npy.gz --validation mnist_static_valid.bits.npy.gz --columns 784 --image-shape 28x28 --threads 1 --validation-rows 1000 --model resnet --channels 32 --blocks 3 --head flat --base view/best.onnx --method draws --fresh 0.12 --kept 60000 --batch-size 256 --negatives 2 --learning-rate 0.001 --warmup-steps 50 --ema 0.998 --steps 2500 --validate-every 250 -o mnist    # stopped at step 1,260; best.onnx is of step 750
ort-ed eval mnist/best.onnx --data mnist_static_test.bits.npy.gz --samples 0 --raise-rows 0 --temperatures 300 --chains 100
```

`recipes/images/learned_base.toml` does both phases in one command, with the base's own schedule.

Drawing 1,000 rows of a masked autoencoder with 1,000 units, moving each once by refill and evaluating them takes 0.4 s, loading included (a
network of the same size before its training):

```
time ort-ed sample made/best.onnx -n 1000 --steps 1 --burn-in 0 --sampler refill -o draws.npy
```

## Commands
{commands}
"""
