"""D-Wave's SimulatedAnnealingSampler held at one temperature, with Gibbs' acceptance: a sampler of Ising chains. Commands as in
bench/peers/common.py.

Start with the task: dwave_worker.py gibbs-ising
It has no threads of its own. It gives Python's lock back while it works, so that with N threads here N calls work side by side, on
their share of the chains. A call makes many sweeps, so that what it takes to begin and to end one hardly counts; time is that of one sweep.
"""
import concurrent.futures
import sys

import dimod
import numpy
from dwave.samplers import SimulatedAnnealingSampler

import common

CHAINS = 2000


class GibbsSweep:
    units = 100  # sweeps of a call

    def __init__(self, threads):
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)
        self.coupling = common.couplings()
        pairs = {(i, j): -2 * float(self.coupling[i, j]) for i, j in numpy.argwhere(numpy.triu(self.coupling))}
        self.model = dimod.BinaryQuadraticModel.from_ising({}, pairs)
        self.variables = list(range(len(self.coupling)))
        self.parts = [None] * threads
        self.number = 0

    def advance(self, index):
        """A share of the chains goes on; the first time it starts anywhere."""
        states = self.parts[index]
        start = {} if states is None else {"initial_states": (states, self.variables)}
        samples = SimulatedAnnealingSampler().sample(
            self.model, num_reads=CHAINS // len(self.parts), beta_schedule_type="custom", beta_schedule=[1.0],
            num_sweeps_per_beta=self.units, proposal_acceptance_criteria="Gibbs", seed=2 * self.number + index, **start)
        order = numpy.argsort(list(samples.variables))
        return samples.record.sample[:, order], samples.record.energy

    def __call__(self):
        self.number += 1
        done = list(self.pool.map(self.advance, range(len(self.parts))))
        self.parts = [states for states, _ in done]
        self.energies = numpy.concatenate([energies for _, energies in done])
        return self.energies.mean()

    def check(self):
        for _ in range(common.SWEEPS["ising"] // self.units):
            self()
        spins = numpy.concatenate(self.parts).astype(float)
        return common.mean_and_error(-((spins @ self.coupling) * spins).sum(1))


TASKS = {"gibbs-ising": GibbsSweep}
common.serve(TASKS[sys.argv[1]])
