"""The methods of Table 1 with one network, base, average and stream of data, at the same cost.

The unit of cost is an energy of one row: 1 forward, 3 with the gradient of the weights; a Gibbs update of one site is 1, since the energy of
where the chain is, is known. Networks beside the energy count by their multiplications.
"""
import dataclasses
import math

SITES = 32
BATCH = 128
ED_STEPS = 2000  # of a batch of BATCH rows with M = 32 negatives each: the budget of all methods
TRAINED = 3


def multiplications(*widths):
    return sum(a * b for a, b in zip(widths, widths[1:]))


ENERGY = multiplications(SITES, 256, 256, 256, 1)


def ed_cost(negatives):
    return TRAINED * (1 + negatives)


def pcd_cost(sweeps):
    return TRAINED * 2 + SITES * sweeps


def aloe_cost(*q0_hidden):
    """A row and its negative, a sweep of Gibbs sampling, a draw of q0 (an evaluation for each site) and of the editor (eight
    edits, about the most of a batch), and ten ways of two decisions each that are evaluated and learned from."""
    q0 = multiplications(SITES, *q0_hidden, SITES) / ENERGY
    editor = (multiplications(SITES, 512, 512, SITES) + multiplications(SITES, 512, 512, 1)) / ENERGY
    return pcd_cost(1) + SITES * q0 + 8 * editor + 10 * (1 + TRAINED) * (q0 + 2 * editor)


EB_GFN_COST = 241  # 231 for the policy: paths built, taken apart and learned from
BUDGET = ED_STEPS * BATCH * ed_cost(32)


@dataclasses.dataclass
class Method:
    title: str
    cost: float  # of a row of the batch
    options: list
    batch: int = BATCH
    budget: float = BUDGET

    def steps(self):
        return max(1, math.floor(self.budget / (self.batch * self.cost)))


def ed(title, method, *options):
    return Method(title, ed_cost(32), ["--method", method, *options, "--negatives", 32, "--learning-rate", 0.002])


def pcd(title, sweeps):
    return Method(title, pcd_cost(sweeps), ["--method", "pcd", "--sampler", "gibbs", "--chain-steps", sweeps, "--buffer", 10000,
                                            "--negatives", 1, "--learning-rate", 0.001])


def other(title, cost, *options, **values):
    return Method(title, cost, [*options, "--negatives", 1, "--learning-rate", 0.001], **values)


METHODS = {
    "pcd-1": pcd("PCD, 1 sweep", 1),
    "pcd-10": pcd("PCD, 10 sweeps", 10),
    "pcd-3": pcd("PCD, 3 sweeps: a step costs what one of ED does", 3),
    "aloe": other("ALOE", aloe_cost(256, 256), "--method", "aloe"),
    "aloe-plus": other("ALOE+", aloe_cost(3500, 3500), "--method", "aloe", "--aloe-plus"),
    "eb-gfn": other("EB-GFN", EB_GFN_COST, "--method", "eb-gfn"),
    "ed-bern": ed("ED-Bern", "bernoulli", "--epsilon", 0.1),
    "ed-pool": ed("ED-Pool", "pool"),
    "ed-grid": ed("ED-Grid", "grid"),
    "ours": Method("ours", ed_cost(2), ["--method", "bernoulli", "--epsilon", 0.1, "--negatives", 2, "--batch-size", 400,
                                        "--learning-rate", 0.006, "--warmup-steps", 200], batch=400),
}
# ALOE+ has so few steps at the common budget that it is shown with more once.
MORE = {"pinwheel": {"aloe-plus-x10": dataclasses.replace(METHODS["aloe-plus"], title="ALOE+, ten times the cost", budget=10 * BUDGET)}}

# The paper's Table 1: NLL and MMD x 1e-4, in the order of its columns.
DENSITIES = ["2spirals", "8gaussians", "circles", "moons", "pinwheel", "swissroll", "checkerboard"]
PUBLISHED_NLL = {
    "PCD": [20.094, 19.991, 20.565, 19.763, 19.593, 20.172, 21.214],
    "ALOE+": [20.062, 19.984, 20.570, 19.743, 19.576, 20.170, 21.142],
    "EB-GFN": [20.050, 19.982, 20.546, 19.732, 19.554, 20.146, 20.696],
    "ED-Bern": [20.039, 19.992, 20.601, 19.710, 19.568, 20.084, 20.679],
    "ED-Pool": [20.051, 19.999, 20.604, 19.721, 19.531, 20.084, 20.676],
    "ED-Grid": [20.049, 19.965, 20.601, 19.715, 19.564, 20.088, 20.678],
}
PUBLISHED_MMD = {
    "PCD": [2.160, 0.954, 0.188, 0.962, 0.505, 1.382, 2.831],
    "ALOE+": [0.149, 0.078, 0.636, 0.516, 1.746, 0.718, 12.138],
    "EB-GFN": [0.583, 0.531, 0.305, 0.121, 0.492, 0.274, 1.206],
    "ED-Bern": [0.120, 0.014, 0.137, -0.088, 0.046, 0.045, 1.541],
    "ED-Pool": [0.129, -0.003, -0.021, 0.042, 0.126, 0.101, 2.080],
    "ED-Grid": [0.097, -0.066, 0.022, 0.018, 0.351, 0.097, 2.049],
}


def methods_of(density):
    return METHODS | MORE.get(density, {})


def train(cell, density, method, seed):
    chosen = methods_of(density)[method]
    return cell.train("densities/equal-cost.toml", "--data", f"synth:{density}", "--seed", seed, *chosen.options,
                      "--steps", chosen.steps())
