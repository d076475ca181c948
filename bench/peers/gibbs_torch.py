"""Batched single-site Gibbs sampling in PyTorch: the peer of bench/gibbs_bench.cc.

    gibbs_torch.py ising|mlp CHAINS THREADS SECONDS [--cached]

Prints the site updates a second. One update of all chains evaluates the present state and the state with one bit
flipped, as public codes do; with --cached the energy of the present state is kept, so that it costs one evaluation.
"""
import sys
import time

import torch
from torch import nn


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


class Mlp(nn.Module):
    def __init__(self, dimension=32, width=256):
        super().__init__()
        self.dimension = dimension
        self.net = nn.Sequential(nn.Linear(dimension, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


@torch.no_grad()
def update(energy, x, site, kept):
    """Returns the new states and their energies."""
    present = energy(x) if kept is None else kept
    changes = torch.zeros_like(x)
    changes[:, site] = 1
    flipped = (1 - changes) * x + changes * (1 - x)
    changed = energy(flipped)
    accept = torch.bernoulli(torch.sigmoid(present - changed))
    return flipped * accept[:, None] + x * (1 - accept[:, None]), changed * accept + present * (1 - accept)


def main():
    name, chains, threads, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    cached = "--cached" in sys.argv
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    energy = Ising() if name == "ising" else Mlp()
    x = torch.bernoulli(torch.full((chains, energy.dimension), 0.5))
    with torch.no_grad():
        kept = energy(x)
    for site in range(10):
        update(energy, x, site, kept if cached else None)
    updates, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        x, kept = update(energy, x, updates % energy.dimension, kept if cached else None)
        updates += 1
    print(updates * chains / (time.perf_counter() - start))


main()
