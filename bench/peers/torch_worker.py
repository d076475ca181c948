"""Our PyTorch programs for the tasks of bench/peers.py: the peer of bench/pair_worker.cc.

Reads commands from standard input, one per line, and answers each with one line:
    threads N       sets the number of threads        -> "ok"
    steps N         works N times                     -> the seconds of the fastest, and a number of the task
Start with the task: torch_worker.py train-mlp [--channels-last] [--cached] [--compiled]
"""
import sys
import time

import torch
from torch import nn
import torch.nn.functional as F


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
    def __init__(self, channels=64):
        super().__init__()
        self.input = nn.Conv2d(1, channels, 3, 1, 1)
        self.blocks = nn.Sequential(*[Block(channels, stride) for stride in (2, 2, 1, 1, 1, 1, 1, 1)])
        self.output = nn.Linear(channels, 1)

    def forward(self, x):
        image = x.view(-1, 1, 28, 28)
        if self.channels_last:
            image = image.contiguous(memory_format=torch.channels_last)
        return self.output(self.blocks(self.input(image)).mean((2, 3))).squeeze(1)


class TrainingStep:
    """Bernoulli noise, energies of positives and negatives, loss, gradients, clipping, Adam, moving average."""

    def __init__(self, network, batch, negatives, epsilon, learning_rate, clip, dimension):
        self.network, self.clip, self.negatives, self.epsilon = network, clip, negatives, epsilon
        self.data = (torch.rand(batch, dimension) < 0.5).float()
        self.mean = torch.full((dimension,), 0.4)
        self.optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate, foreach=True)
        self.parameters = list(network.parameters())
        self.average = [p.detach().clone() for p in self.parameters]

    def energy(self, x):
        base = x @ torch.log(self.mean) + (1 - x) @ torch.log(1 - self.mean)
        return self.network(x) - base

    def __call__(self):
        positives = self.data
        noise = lambda: (torch.rand(len(positives), self.negatives, positives.shape[1]) < self.epsilon).float()
        flipped = (positives - (torch.rand_like(positives) < self.epsilon).float()).abs()
        negatives = (flipped.unsqueeze(1) - noise()).abs()
        rows = torch.cat([positives.unsqueeze(1), negatives], 1)
        energies = self.energy(rows.flatten(0, 1)).view(len(positives), -1)
        differences = energies[:, :1] - energies[:, 1:]
        zero = torch.zeros(len(positives), 1)
        loss = torch.logsumexp(torch.cat([zero, differences], 1), 1).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.clip:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_mul_(self.average, 0.999)
            torch._foreach_add_(self.average, self.parameters, alpha=0.001)
        return loss.item()


class Ising(nn.Module):
    """-s'Js on a periodic 10 x 10 lattice."""

    def __init__(self, side=10, sigma=0.2):
        super().__init__()
        self.dimension = side * side
        coupling = torch.zeros(self.dimension, self.dimension)
        for y in range(side):
            for x in range(side):
                for other in ((y + 1) % side * side + x, y * side + (x + 1) % side):
                    coupling[y * side + x, other] = coupling[other, y * side + x] = sigma
        self.coupling = nn.Parameter(coupling)

    def forward(self, x):
        spins = 2 * x - 1
        return -((spins @ self.coupling) * spins).sum(1)


class Scoring:
    """Energies of rows, in batches of the size that is best for it."""

    def __init__(self, network, rows, dimension, batch):
        self.network, self.batch = network, batch
        self.rows = (torch.rand(rows, dimension) < 0.5).float()

    @torch.no_grad()
    def __call__(self):
        return torch.cat([self.network(rows) for rows in self.rows.split(self.batch)]).mean().item()


class GibbsSweep:
    """One bit after the other in all chains. An update evaluates the present state and the one with the bit flipped, as
    public codes do; cached, the energy of the present state is kept, so that it costs one evaluation."""

    def __init__(self, energy, chains, dimension, cached):
        self.energy, self.cached, self.dimension = energy, cached, dimension
        self.states = torch.bernoulli(torch.full((chains, dimension), 0.5))
        with torch.no_grad():
            self.energies = energy(self.states)

    def update(self, site, beta):
        states = self.states
        present = self.energies if self.cached else self.energy(states)
        changes = torch.zeros_like(states)
        changes[:, site] = 1
        flipped = (1 - changes) * states + changes * (1 - states)
        changed = self.energy(flipped)
        accept = torch.bernoulli(torch.sigmoid(beta * (present - changed)))
        self.states = flipped * accept[:, None] + states * (1 - accept[:, None])
        self.energies = changed * accept + present * (1 - accept)

    @torch.no_grad()
    def __call__(self, beta=1.0):
        for site in range(self.dimension):
            self.update(site, beta)
        return self.energies.mean().item()


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


class PcdStep:
    """Persistent contrastive divergence: chains go on by some steps of a sampler, each with one evaluation of energies and
    gradients (those of the present states are kept), then Adam and the moving average."""

    def __init__(self, network, sampler, compiled, batch=16, chain_steps=10, dimension=784):
        self.sampler, self.chain_steps = sampler, chain_steps
        self.data = (torch.rand(batch, dimension) < 0.5).float()
        self.chains = (torch.rand(batch, dimension) < 0.5).float()
        mean = torch.full((dimension,), 0.4)
        self.field, self.constant = torch.log(1 - mean) - torch.log(mean), -torch.log(1 - mean).sum()
        self.network = network
        self.energy = torch.compile(self.plain_energy) if compiled else self.plain_energy
        self.parameters = list(network.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=1e-4, foreach=True)
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
            torch._foreach_mul_(self.average, 0.999)
            torch._foreach_add_(self.average, self.parameters, alpha=0.001)
        return loss.item()


def resnet(channels_last):
    network = ResNet()
    network.channels_last = channels_last
    return network.to(memory_format=torch.channels_last) if channels_last else network


def make_task(name, options):
    torch.manual_seed(1)
    last, cached, compiled = (f"--{option}" in options for option in ("channels-last", "cached", "compiled"))
    return {
        "train-mlp": lambda: TrainingStep(Mlp(), batch=128, negatives=32, epsilon=0.1, learning_rate=2e-3, clip=5,
                                          dimension=32),
        "train-resnet": lambda: TrainingStep(resnet(last), batch=10, negatives=32, epsilon=0.005, learning_rate=1e-4,
                                             clip=None, dimension=784),
        "pcd-gwg": lambda: PcdStep(resnet(last), "gwg", compiled),
        "pcd-dula": lambda: PcdStep(resnet(last), "dula", compiled),
        "score-mlp": lambda: Scoring(Mlp(), 16384, 32, 1024),
        "score-resnet": lambda: Scoring(resnet(last), 512, 784, 64),
        "gibbs-ising": lambda: GibbsSweep(Ising(), 2000, 100, cached),
        "gibbs-mlp": lambda: GibbsSweep(Mlp(), 1000, 32, cached),
        "ais-mlp": lambda: AisTemperature(GibbsSweep(Mlp(), 1000, 32, cached)),
    }[name]()


def main():
    task = make_task(sys.argv[1], sys.argv[2:])
    for line in sys.stdin:
        command, count = line.split()
        if command == "threads":
            torch.set_num_threads(int(count))
            print("ok", flush=True)
            continue
        best = float("inf")
        for _ in range(int(count)):
            start = time.perf_counter()
            value = task()
            best = min(best, time.perf_counter() - start)
        print(f"{best:.6f} {value:.6f}", flush=True)


main()
