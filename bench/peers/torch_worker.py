"""Our PyTorch programs for the tasks of bench/peers.py, commands as in bench/peers/common.py.

Start with the task: torch_worker.py train-mlp [--channels-last] [--cached] [--checkerboard] [--compiled]
"""
import sys

import torch
from torch import nn
import torch.nn.functional as F

import common


class Swish(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return x * torch.sigmoid(self.slope * x)


class Mlp(nn.Module):
    def __init__(self, dimension=32, width=256):
        super().__init__()
        layers = []
        for inputs in (dimension, width, width):
            layers += [nn.Linear(inputs, width), Swish()]
        self.net = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class Block(nn.Module):
    def __init__(self, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, stride, 1)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1)
        self.shortcut = nn.Conv2d(channels, channels, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.silu(self.conv2(F.silu(self.conv1(x))) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, channels=common.MAPS):
        super().__init__()
        self.input = nn.Conv2d(1, channels, 3, 1, 1)
        strides = [2] * common.DOWN + [1] * (common.BLOCKS - common.DOWN)
        self.blocks = nn.Sequential(*[Block(channels, stride) for stride in strides])
        self.output = nn.Linear(channels, 1)

    def forward(self, x):
        image = x.view(-1, 1, 28, 28)
        if self.channels_last:
            image = image.contiguous(memory_format=torch.channels_last)
        return self.output(self.blocks(self.input(image)).mean((2, 3))).squeeze(1)


def load(network, names):
    """Puts the weights of common.py into parameters; `names` are those of their layers there."""
    weights = common.weights_of("mlp" if isinstance(network, Mlp) else "resnet")
    with torch.no_grad():
        for ours, parameter in network.named_parameters():
            value = torch.from_numpy(weights[names(ours)])
            parameter.copy_(value.T if value.dim() == 2 else value)
    return network


def name_in_mlp(name):
    _, index, kind = name.split(".")  # net.0.weight, net.1.slope
    return f"output.{kind}" if index == "6" else f"hidden{int(index) // 2 + 1}.{kind}"


def name_in_resnet(name):
    if not name.startswith("blocks."):
        return name
    _, index, rest = name.split(".", 2)
    return f"block{int(index) + 1}.{rest}"


def mlp():
    return load(Mlp(), name_in_mlp)


def resnet(channels_last):
    network = load(ResNet(), name_in_resnet)
    network.channels_last = channels_last
    return network.to(memory_format=torch.channels_last) if channels_last else network


def compiled(function, wanted):
    return torch.compile(function, dynamic=False) if wanted else function


class TrainingStep:
    """Bernoulli noise, energies of positives and negatives, loss, gradients, clipping, Adam, moving average."""

    def __init__(self, network, is_compiled, batch, epsilon, rate, clip, dimension, base=True):
        self.network, self.clip, self.epsilon, self.base = network, clip, epsilon, base
        self.batch, self.dimension = batch, dimension
        self.data = (torch.rand(batch, dimension) < 0.5).float()
        self.mean = torch.full((dimension,), common.BASE_MEAN)
        self.parameters = list(network.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=rate, fused=True)
        self.average = [p.detach().clone() for p in self.parameters]
        self.loss_of_rows = compiled(self.loss, is_compiled)
        self.loss_of_noise = compiled(lambda data: self.loss(data.unsqueeze(1), self.negatives(data)), is_compiled)

    def negatives(self, positives):
        noise = torch.rand(len(positives), common.NEGATIVES, self.dimension) < self.epsilon
        flipped = (positives - (torch.rand_like(positives) < self.epsilon).float()).abs()
        return (flipped.unsqueeze(1) - noise.float()).abs()

    def loss(self, positives, negatives):
        rows = torch.cat([positives, negatives], 1).flatten(0, 1)
        energies = self.network(rows)
        if self.base:
            energies = energies - (rows @ torch.log(self.mean) + (1 - rows) @ torch.log(1 - self.mean))
        energies = energies.view(len(positives), -1)
        differences = energies[:, :1] - energies[:, 1:]
        zero = torch.zeros(len(positives), 1)
        return torch.logsumexp(torch.cat([zero, differences], 1), 1).mean()

    def learn(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.clip:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.clip, foreach=True)
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(self.average, self.parameters, 0.001)
        return loss.item()

    def __call__(self):
        return self.learn(self.loss_of_noise(self.data))

    def check(self):
        positives, negatives = map(torch.from_numpy, common.contrastive_rows(self.batch, self.epsilon, self.dimension))
        return [self.learn(self.loss_of_rows(positives, negatives)) for _ in range(common.CHECKED_STEPS)]


class Ising(nn.Module):
    """-s'Js on the periodic lattice."""

    def __init__(self):
        super().__init__()
        self.coupling = nn.Parameter(torch.from_numpy(common.couplings()))

    def forward(self, x):
        spins = 2 * x - 1
        return -((spins @ self.coupling) * spins).sum(1)


class Scoring:
    """Energies of rows, in batches of the size that is best for it."""

    def __init__(self, network, is_compiled, rows, dimension, batch):
        self.batch, self.plain, self.dimension = batch, network, dimension
        torch._inductor.config.freezing = is_compiled  # weights are constants, packed once
        self.network = compiled(network.eval(), is_compiled)
        self.rows = (torch.rand(rows, dimension) < 0.5).float()

    def energies(self, rows):
        with torch.no_grad():
            return torch.cat([self.network(part) for part in rows.split(self.batch)])

    def __call__(self):
        return self.energies(self.rows).mean().item()

    def check(self):
        rows = torch.from_numpy(common.bits("rows", common.CHECKED_ROWS, self.dimension))
        return self.energies(rows.repeat(self.batch // len(rows), 1))[:len(rows)].tolist()


class GibbsSweep:
    """One bit after the other in all chains. An update evaluates the present state and the one with the bit flipped, as
    public codes do; cached, the energy of the present state is kept, so that it costs one evaluation."""

    def __init__(self, energy, chains, dimension, cached, is_compiled):
        self.energy, self.cached = energy, cached
        self.states = torch.bernoulli(torch.full((chains, dimension), 0.5))
        self.changes = torch.eye(dimension).unsqueeze(1)
        self.step = compiled(self.update, is_compiled)
        with torch.no_grad():
            self.energies = energy(self.states)

    def update(self, states, energies, changes, beta):
        present = energies if self.cached else self.energy(states)
        flipped = (states - changes).abs()
        changed = self.energy(flipped)
        accept = torch.rand(len(states)) < torch.sigmoid(beta * (present - changed))
        return torch.where(accept[:, None], flipped, states), torch.where(accept, changed, present)

    @torch.no_grad()
    def __call__(self, beta=1.0):
        beta = torch.tensor(beta)
        for changes in self.changes:
            self.states, self.energies = self.step(self.states, self.energies, changes, beta)
        return self.energies.mean().item()

    def check(self):
        for _ in range(common.SWEEPS["ising" if self.states.shape[1] == 100 else "mlp"]):
            self()
        return common.mean_and_error(self.energies)


class CheckerboardSweep:
    """Ising chains, the sites of one colour at once, which do not touch one another: [side, side / 2, chains] spins a colour, so
    that all of them are updated by a few operations on vectors. It uses what the lattice is, and evaluates no energy."""

    def __init__(self, chains, is_compiled):
        spins = lambda: 2 * torch.bernoulli(torch.full((common.SIDE, common.SIDE // 2, chains), 0.5)) - 1
        self.black, self.white = spins(), spins()
        self.even = (torch.arange(common.SIDE) % 2 == 0)[:, None, None]
        self.both = compiled(self.sweep, is_compiled)

    def neighbours(self, other, side):
        """Sums over the four neighbours: above, below, the same column of the other colour, and the one before or behind."""
        beside = torch.where(self.even, other.roll(side, 1), other.roll(-side, 1))
        return other.roll(1, 0) + other.roll(-1, 0) + other + beside

    def draw(self, field):
        return torch.where(torch.rand_like(field) < torch.sigmoid(4 * common.SIGMA * field), 1.0, -1.0)

    def sweep(self, black, white):
        black = self.draw(self.neighbours(white, 1))
        white = self.draw(self.neighbours(black, -1))
        return black, white, -2 * common.SIGMA * (white * self.neighbours(black, -1)).sum((0, 1))

    @torch.no_grad()
    def __call__(self):
        self.black, self.white, self.energies = self.both(self.black, self.white)
        return self.energies.mean().item()

    def check(self):
        for _ in range(common.SWEEPS["ising"]):
            self()
        return common.mean_and_error(self.energies)


class AisTemperature:
    """The weights of all chains by the next temperature from a uniform base, then a Gibbs sweep."""

    def __init__(self, sweep, temperatures=1000000):
        self.sweep, self.temperatures, self.step = sweep, temperatures, 0
        self.log_weights = torch.zeros(len(sweep.states))

    @torch.no_grad()
    def __call__(self):
        energies = self.sweep.energies if self.sweep.cached else self.sweep.energy(self.sweep.states)
        self.log_weights -= energies / self.temperatures
        self.step += 1
        return self.sweep(self.step / self.temperatures)

    def check(self):
        self()
        return common.mean_and_error(self.sweep.energies)


class PcdStep:
    """Persistent contrastive divergence: chains go on by some steps of a sampler, each with one evaluation of energies and
    gradients (those of the present states are kept), then Adam and the moving average."""

    def __init__(self, network, sampler, is_compiled, batch=16, chain_steps=10, dimension=784):
        self.sampler, self.chain_steps = sampler, chain_steps
        self.data = (torch.rand(batch, dimension) < 0.5).float()
        self.chains = (torch.rand(batch, dimension) < 0.5).float()
        mean = torch.full((dimension,), 0.4)
        self.field, self.constant = torch.log(1 - mean) - torch.log(mean), -torch.log(1 - mean).sum()
        self.network = network
        self.energy = compiled(self.plain_energy, is_compiled)
        self.parameters = list(network.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=1e-4, fused=True)
        self.average = [p.detach().clone() for p in self.parameters]

    def plain_energy(self, x):
        return self.network(x) + x @ self.field + self.constant

    def energy_and_slope(self, x):
        x = x.detach().requires_grad_()
        energy = self.energy(x)
        return energy.detach(), torch.autograd.grad(energy.sum(), x)[0]

    def gwg(self, states, energies, slopes):
        gains = -(1 - 2 * states) * slopes / 2
        there = torch.distributions.Categorical(logits=gains)
        sites = there.sample()
        proposed = states.clone()
        rows = torch.arange(len(states))
        proposed[rows, sites] = 1 - proposed[rows, sites]
        new_energies, new_slopes = self.energy_and_slope(proposed)
        back = torch.distributions.Categorical(logits=-(1 - 2 * proposed) * new_slopes / 2)
        log_ratio = energies - new_energies + back.log_prob(sites) - there.log_prob(sites)
        accept = torch.rand(len(states)).log() < log_ratio
        return (torch.where(accept[:, None], proposed, states), torch.where(accept, new_energies, energies),
                torch.where(accept[:, None], new_slopes, slopes))

    def dula(self, states, energies, slopes, step_size=0.2):
        flip = torch.rand_like(states) < torch.sigmoid(-(1 - 2 * states) * slopes / 2 - 1 / (2 * step_size))
        proposed = torch.where(flip, 1 - states, states)
        return proposed, *self.energy_and_slope(proposed)

    def __call__(self):
        for parameter in self.parameters:  # so that no gradient of theirs is computed
            parameter.requires_grad_(False)
        place = (self.chains, *self.energy_and_slope(self.chains))
        for _ in range(self.chain_steps):
            place = getattr(self, self.sampler)(*place)
        self.chains = place[0].detach()
        for parameter in self.parameters:
            parameter.requires_grad_(True)
        energies = self.energy(torch.cat([self.data, self.chains])).view(2, -1).mean(1)
        loss = energies[0] - energies[1]
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(self.average, self.parameters, 0.001)
        return loss.item()


def make_task(name, options, threads):
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    last, cached, fast = (f"--{option}" in options for option in ("channels-last", "cached", "compiled"))
    ising = lambda: CheckerboardSweep(2000, fast) if "--checkerboard" in options else GibbsSweep(Ising(), 2000, 100, cached, fast)
    return {
        "train-mlp": lambda: TrainingStep(mlp(), fast, **common.SETTINGS["mlp"]),
        "train-resnet": lambda: TrainingStep(resnet(last), fast, **common.SETTINGS["resnet"]),
        "pcd-gwg": lambda: PcdStep(resnet(last), "gwg", fast),
        "pcd-dula": lambda: PcdStep(resnet(last), "dula", fast),
        "score-mlp": lambda: Scoring(mlp(), fast, 16384, 32, 1024),
        "score-resnet": lambda: Scoring(resnet(last), fast, 512, 784, 64),
        "gibbs-ising": ising,
        "gibbs-mlp": lambda: GibbsSweep(mlp(), 1000, 32, cached, fast),
        "ais-mlp": lambda: AisTemperature(GibbsSweep(mlp(), 1000, 32, cached, fast)),
    }[name]()


if __name__ == "__main__":
    common.serve(lambda threads: make_task(sys.argv[1], sys.argv[2:], threads))
