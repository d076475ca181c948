"""One energy-discrepancy training step in PyTorch: the peer of bench/train_step_worker.cc.

Reads commands from standard input, one a line, and answers each with one line:
    threads N       sets the number of threads        -> "ok"
    steps N         takes N optimiser steps           -> the seconds of the fastest and the loss
Start with the network as argument: train_step_torch.py mlp|resnet [--channels-last]
"""
import copy
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


class Step:
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


def make_step(name, channels_last):
    torch.manual_seed(1)
    if name == "mlp":
        return Step(Mlp(), batch=128, negatives=32, epsilon=0.1, learning_rate=2e-3, clip=5, dimension=32)
    network = ResNet()
    network.channels_last = channels_last
    if channels_last:
        network = network.to(memory_format=torch.channels_last)
    return Step(network, batch=10, negatives=32, epsilon=0.005, learning_rate=1e-4, clip=None, dimension=784)


def main():
    step = make_step(sys.argv[1], "--channels-last" in sys.argv)
    for line in sys.stdin:
        command, count = line.split()
        if command == "threads":
            torch.set_num_threads(int(count))
            print("ok", flush=True)
            continue
        best = float("inf")
        for _ in range(int(count)):
            start = time.perf_counter()
            loss = step()
            best = min(best, time.perf_counter() - start)
        print(f"{best:.6f} {loss:.6f}", flush=True)


main()
