"""Static MNIST by all methods (the paper, Table 2) at the same cost: one network, base, average of weights and stream of rows.

The unit of cost is an energy of one row: 1 forward, 2 with the gradient of the row, 3 with that of the weights. The base counts by its
FLOPs.
"""
import dataclasses

from . import experiment, images, markdown

NAME = "image_methods"
STEPS, BATCH, NEGATIVES = 2500, 64, 2  # of energy discrepancy
COST = 3 * (1 + NEGATIVES)  # of a row of its batch
CHAIN_STEPS = 40
PCD_COST = 3 * 2 + 2 * CHAIN_STEPS
TEMPERATURES, CHAINS = 6000, 40
# FLOPs of a row, by `ort-ed inspect`: the network of recipes/images/cpu.toml, and the masked autoencoder below.
NETWORK, BASE = 4_025_089, 4_373_800
BASE_BATCH = 100


@dataclasses.dataclass
class Method:
    title: str
    published: str  # in the paper's table
    options: list
    cost: float = COST
    batch: int = BATCH

    @property
    def steps(self):
        return round(STEPS * BATCH * COST / (self.batch * self.cost))


def discrepancy(title, published, *options):
    return Method(title, published, ["--negatives", NEGATIVES, *options])


def persistent(title, published, *options):
    return Method(title, published, ["--method", "pcd", "--chain-steps", CHAIN_STEPS, "--buffer", 10000, "--negatives", 1,
                                     "--learning-rate", 1e-4, *options], PCD_COST)


METHODS = {
    "pcd-gwg": persistent("PCD, GWG", "80.01", "--sampler", "gwg"),
    "pcd-dula": persistent("PCD, DULA", "80.71", "--sampler", "dula", "--sampler-step-size", 0.1),
    "ed-bern": discrepancy("ED-Bern", "95.38", "--method", "bernoulli"),
    "ed-pool": discrepancy("ED-Pool", "168.07", "--method", "pool", "--window", "4x4"),
    "ed-grid": discrepancy("ED-Grid", "90.15", "--method", "grid"),
    "base": Method("a learned base alone", "", ["--model", "made", "--method", "likelihood", "--hidden", 1000, "--dropout", 0.2,
                                                "--learning-rate", 2e-3, "--batch-size", BASE_BATCH, "--ema", 0.997],
                   3 * BASE / NETWORK, BASE_BATCH),
}


def cells():
    return list(METHODS)


def run(cell):
    method = METHODS[cell.name]
    train, valid, test, _, _ = images.SETS["static-mnist"]
    recipe = None if cell.name == "base" else "images/cpu.toml"
    training = cell.train(recipe, "--data", images.rows(train), "--validation", images.rows(valid), *images.SIDE, *method.options,
                          "--steps", method.steps, "--warmup-steps", 100, "--validate-every", max(method.steps // 10, 1),
                          "--validation-rows", 2000, "--threads", 1, "--seed", 1)
    model = training["best_model"] if cell.name == "base" else cell.with_gradient(training["model"])
    annealing = [] if cell.name == "base" else ["--sampler", "dmala", "--step-size", 0.2, "--temperatures", TEMPERATURES, "--chains", CHAINS]
    evaluation = cell.ort_ed("eval", model, "--data", images.rows(test), *annealing, "--raise-rows", 0, "--samples", 0, "--json")
    cell.finish({"steps": training["steps"], "seconds": training["seconds"], "learned": training.get("learned"),
                 "evaluation": evaluation})


def row(name, result):
    method = METHODS[name]
    chains = markdown.effective_chains(result["evaluation"])
    return [method.title, markdown.estimates(result["evaluation"]), chains, f"{result['steps']:,} of {method.batch}",
            markdown.seconds(result["seconds"]), method.published]


def render(results):
    table = markdown.table(["", "negative log-likelihood, nats", "effective chains", "steps, rows", "training", "the paper"],
                           [row(name, r) for name, r in results.items()])
    commands = "\n".join(f"\n### {name}\n\n{markdown.commands(r)}" for name, r in results.items())
    markdown.write_page(NAME, PAGE.format(
        provenance=markdown.provenance(results.values(), NAME), table=table, paper=markdown.PAPER, commands=commands, steps=STEPS,
        batch=BATCH, negatives=NEGATIVES, cost=COST, chain_steps=CHAIN_STEPS, pcd_cost=PCD_COST, temperatures=TEMPERATURES, chains=CHAINS))


PAGE = """
# Static MNIST, all methods at the same cost (the paper, Table 2)

{provenance}

One network (recipes/images/cpu.toml: 16 feature maps, five residual blocks), Bernoulli base, average of weights, stream of rows, and the same
cost: that of {steps:,} steps of energy discrepancy with {batch} rows and M = {negatives}. An energy counts 1, with the gradient of the row 2, with
that of the weights 3, so that a row of a step costs {cost} by energy discrepancy and {pcd_cost} by PCD with {chain_steps} steps of its sampler; the learned
base counts by its FLOPs. Models are the last ones of the training, the base that with the best validation.

{table}

The last column is Table 2 of the paper, {paper}, which took PCD from Zhang, Liu, Liu 2022: 50,000 steps of 100 rows on a GPU with a
network of 64 maps (82 MFLOP a row), by ED with M = 32: about 7,000 times the cost by the same count. Log Z by annealing forwards and in reverse, {temperatures:,} temperatures, {chains} chains; (!) marks what
`ort-ed eval` warns of, and [learned_base.md](learned_base.md) has the networks on a learned base. What differs besides: ED with rate 0.002 and cosine decay
(the paper: 0.0001, constant), epsilon 0.002, window 4 x 4 for ED-Pool (the paper does not say); PCD with rate 0.0001 (at 0.001 it diverged), 10,000 chains that start at
the base and go on.

## Commands
{commands}
"""
