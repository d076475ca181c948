"""Our JAX programs for the tasks of bench/peers.py, commands as in bench/peers/common.py. All of them are jitted, the state of a
training step is donated, and random numbers come from XLA's own generator (rbg), which is the fastest here.

Start with the task: jax_worker.py train-mlp
"""
import functools
import os
import sys

import jax
import jax.numpy as jnp
from jax import lax

import common

jax.config.update("jax_default_prng_impl", "unsafe_rbg")


def swish(x, slope=1.0):
    return x * jax.nn.sigmoid(slope * x)


def mlp(weights, rows):
    for number in (1, 2, 3):
        name = f"hidden{number}"
        rows = swish(rows @ weights[f"{name}.weight"] + weights[f"{name}.bias"], weights[f"{name}.slope"])
    return (rows @ weights["output.weight"] + weights["output.bias"])[:, 0]


def convolution(weights, name, images, stride=1):
    kernel = weights[f"{name}.weight"]  # height x width x inputs x outputs
    margin = kernel.shape[0] // 2
    return weights[f"{name}.bias"] + lax.conv_general_dilated(images, kernel, (stride, stride), ((margin, margin),) * 2,
                                                              dimension_numbers=("NHWC", "HWIO", "NHWC"))


def resnet(weights, rows):
    images = convolution(weights, "input", rows.reshape(-1, 28, 28, 1))
    for block in range(1, common.BLOCKS + 1):
        name, stride = f"block{block}", 2 if block <= common.DOWN else 1
        inner = convolution(weights, f"{name}.conv2", swish(convolution(weights, f"{name}.conv1", images, stride)))
        images = swish(inner + (convolution(weights, f"{name}.shortcut", images, stride) if stride > 1 else images))
    return (images.mean((1, 2)) @ weights["output.weight"] + weights["output.bias"])[:, 0]


ENERGY = {"mlp": mlp, "resnet": resnet}


def weights_of(network):
    return {name: jnp.asarray(value.transpose(2, 3, 1, 0) if value.ndim == 4 else value)
            for name, value in common.weights_of(network).items()}


class TrainingStep:
    """Bernoulli noise, energies of positives and negatives, loss, gradients, clipping, Adam, moving average: one jitted function."""

    def __init__(self, network, batch, epsilon, rate, clip, dimension):
        self.energy, self.batch, self.epsilon, self.rate, self.clip, self.dimension = (
            ENERGY[network], batch, epsilon, rate, clip, dimension)
        weights = weights_of(network)
        zeros = lambda: jax.tree.map(jnp.zeros_like, weights)
        self.state = {"weights": weights, "mean": zeros(), "square": zeros(), "average": jax.tree.map(jnp.array, weights),
                      "step": jnp.zeros((), jnp.int32), "key": jax.random.key(1)}
        self.data = jax.random.bernoulli(jax.random.key(2), 0.5, (batch, dimension)).astype(jnp.float32)
        self.noisy = jax.jit(self.noisy_step, donate_argnums=0)
        self.given = jax.jit(self.learn, donate_argnums=0)

    def loss(self, weights, positives, negatives):
        rows = jnp.concatenate([positives, negatives], 1).reshape(-1, self.dimension)
        base = rows.sum(1) * jnp.log(common.BASE_MEAN) + (1 - rows).sum(1) * jnp.log(1 - common.BASE_MEAN)
        energies = (self.energy(weights, rows) - base).reshape(self.batch, -1)
        differences = energies[:, :1] - energies[:, 1:]
        return jax.nn.logsumexp(jnp.concatenate([jnp.zeros((self.batch, 1)), differences], 1), 1).mean()

    def learn(self, state, positives, negatives):
        loss, slopes = jax.value_and_grad(self.loss)(state["weights"], positives, negatives)
        if self.clip:
            norm = jnp.sqrt(sum((slope**2).sum() for slope in jax.tree.leaves(slopes)))
            slopes = jax.tree.map(lambda slope: slope * jnp.minimum(1, self.clip / (norm + 1e-6)), slopes)
        step = state["step"] + 1
        mean = jax.tree.map(lambda m, s: 0.9 * m + 0.1 * s, state["mean"], slopes)
        square = jax.tree.map(lambda v, s: 0.999 * v + 0.001 * s * s, state["square"], slopes)
        rate, scale = self.rate / (1 - 0.9**step), 1 / (1 - 0.999**step)
        weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v * scale) + 1e-8), state["weights"], mean, square)
        average = jax.tree.map(lambda a, w: 0.999 * a + 0.001 * w, state["average"], weights)
        return {"weights": weights, "mean": mean, "square": square, "average": average, "step": step, "key": state["key"]}, loss

    def noisy_step(self, state, data):
        key, first, second = jax.random.split(state["key"], 3)
        flipped = jnp.abs(data - jax.random.bernoulli(first, self.epsilon, data.shape))[:, None]
        noise = jax.random.bernoulli(second, self.epsilon, (self.batch, common.NEGATIVES, self.dimension))
        return self.learn(state | {"key": key}, data[:, None], jnp.abs(flipped - noise))

    def __call__(self):
        self.state, loss = self.noisy(self.state, self.data)
        return float(loss)

    def check(self):
        positives, negatives = common.contrastive_rows(self.batch, self.epsilon, self.dimension)
        losses = []
        for _ in range(common.CHECKED_STEPS):
            self.state, loss = self.given(self.state, positives, negatives)
            losses.append(float(loss))
        return losses


class Scoring:
    """Energies of rows, in batches of the size that is best for it."""

    def __init__(self, network, rows, dimension, batch):
        self.batch, self.dimension = batch, dimension
        self.network = jax.jit(functools.partial(ENERGY[network], weights_of(network)))  # weights are constants
        self.rows = jax.random.bernoulli(jax.random.key(2), 0.5, (rows, dimension)).astype(jnp.float32)
        self.parts = jax.jit(lambda rows: rows.reshape(-1, batch, dimension))(self.rows)

    def __call__(self):
        return float(jnp.concatenate([self.network(part) for part in self.parts]).mean())

    def check(self):
        rows = common.bits("rows", common.CHECKED_ROWS, self.dimension)
        return self.network(jnp.tile(rows, (self.batch // len(rows), 1)))[:len(rows)].tolist()


class GibbsSweep:
    """One bit of the network's rows after the other in all chains, with the energy of the present state kept: one evaluation an
    update, all of a sweep in one jitted loop. In annealing the sweep is at a temperature, and the weights are updated before."""

    def __init__(self, chains, dimension, temperatures):
        self.energy = functools.partial(mlp, weights_of("mlp"))
        self.temperatures, self.number = temperatures, 0
        self.key, start = jax.random.split(jax.random.key(1))
        self.states = jax.random.bernoulli(start, 0.5, (chains, dimension)).astype(jnp.float32)
        self.energies, self.log_weights = self.energy(self.states), jnp.zeros(chains)
        self.sweep = jax.jit(self.plain_sweep, donate_argnums=(0, 1, 2))

    def plain_sweep(self, states, energies, log_weights, key, beta):
        key, draw = jax.random.split(key)
        levels = jax.random.uniform(draw, states.shape[::-1])
        if self.temperatures:
            log_weights = log_weights - energies / self.temperatures

        def update(site, both):
            states, energies = both
            flipped = states.at[:, site].set(1 - states[:, site])
            changed = self.energy(flipped)
            accept = levels[site] < jax.nn.sigmoid(beta * (energies - changed))
            return jnp.where(accept[:, None], flipped, states), jnp.where(accept, changed, energies)

        states, energies = lax.fori_loop(0, states.shape[1], update, (states, energies))
        return states, energies, log_weights, key, energies.mean()

    def __call__(self):
        self.number += 1
        beta = self.number / self.temperatures if self.temperatures else 1.0
        self.states, self.energies, self.log_weights, self.key, mean = self.sweep(
            self.states, self.energies, self.log_weights, self.key, beta)
        return float(mean)

    def check(self):
        for _ in range(1 if self.temperatures else common.SWEEPS["mlp"]):
            self()
        return common.mean_and_error(self.energies)


class CheckerboardSweep:
    """Ising chains, the sites of one colour at once, which do not touch one another: [side, side / 2, chains] spins a colour."""

    def __init__(self, chains):
        self.key, black, white = jax.random.split(jax.random.key(1), 3)
        shape = (common.SIDE, common.SIDE // 2, chains)
        self.black, self.white = (jax.random.rademacher(key, shape, jnp.float32) for key in (black, white))
        self.both = jax.jit(self.sweep, donate_argnums=(0, 1))

    def neighbours(self, other, side):
        """Sums over the four neighbours: above, below, the same column of the other colour, and the one before or behind."""
        even = (jnp.arange(common.SIDE) % 2 == 0)[:, None, None]
        beside = jnp.where(even, jnp.roll(other, side, 1), jnp.roll(other, -side, 1))
        return jnp.roll(other, 1, 0) + jnp.roll(other, -1, 0) + other + beside

    def draw(self, key, field):
        return jnp.where(jax.random.uniform(key, field.shape) < jax.nn.sigmoid(4 * common.SIGMA * field), 1.0, -1.0)

    def sweep(self, black, white, key):
        key, first, second = jax.random.split(key, 3)
        black = self.draw(first, self.neighbours(white, 1))
        white = self.draw(second, self.neighbours(black, -1))
        energies = -2 * common.SIGMA * (white * self.neighbours(black, -1)).sum((0, 1))
        return black, white, key, energies, energies.mean()

    def __call__(self):
        self.black, self.white, self.key, self.energies, mean = self.both(self.black, self.white, self.key)
        return float(mean)

    def check(self):
        for _ in range(common.SWEEPS["ising"]):
            self()
        return common.mean_and_error(self.energies)


TASKS = {
    "train-mlp": lambda: TrainingStep("mlp", **common.SETTINGS["mlp"]),
    "train-resnet": lambda: TrainingStep("resnet", **common.SETTINGS["resnet"]),
    "score-mlp": lambda: Scoring("mlp", 16384, 32, 1024),
    "score-resnet": lambda: Scoring("resnet", 512, 784, 64),
    "gibbs-ising": lambda: CheckerboardSweep(2000),
    "gibbs-mlp": lambda: GibbsSweep(1000, 32, None),
    "ais-mlp": lambda: GibbsSweep(1000, 32, 1000000),
}


def begin(threads):
    os.environ["PJRT_NPROC"] = str(threads)  # read when the first array is made
    return TASKS[sys.argv[1]]()


common.serve(begin)
