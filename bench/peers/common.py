"""What the workers of bench/peers.py have in common: the commands they answer, and the numbers they start from.

Commands are read from standard input, one per line, and each is answered with one line:
    threads N       begins with N threads            -> "ok"
    steps N         works N times                    -> the seconds of the fastest, and a number of the task
    check 1         does the check of the task       -> its numbers: see bench/peers.py --check
    processor N     works N times                    -> the same in processor time, of all threads together
    memory 1        does nothing                     -> MB resident at the peak, and before there was a task
Weights and the rows of a check are the same on all sides, bench/check_numbers.h among them: a pseudo-random sequence for each name.
"""
import resource
import sys
import time

import numpy

NEGATIVES = 32
SWEEPS = {"ising": 300, "mlp": 20}  # of a check
CHECKED_ROWS = 16
CHECKED_STEPS = 5
BASE_MEAN = 0.4
SIDE, SIGMA = 10, 0.2  # of the Ising lattice
DOWN, BLOCKS, MAPS = 2, 8, 64  # of the ResNet: the first blocks have stride 2
SETTINGS = {"mlp": {"batch": 128, "epsilon": 0.1, "rate": 2e-3, "clip": 5, "dimension": 32},
            "resnet": {"batch": 10, "epsilon": 0.005, "rate": 1e-4, "clip": None, "dimension": 784}}
FAMILY_SETTINGS = {"epsilon": 0.05, "rate": 1e-3, "clip": None}  # of bench/families.py


def uniform(name, *shape):
    """Numbers from 0 to 1 that depend on the name alone: splitmix64 counts up from a hash (FNV-1a) of it."""
    key = 0xcbf29ce484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001b3 % 2**64
    with numpy.errstate(over="ignore"):
        z = numpy.uint64(key) + numpy.arange(1, 1 + int(numpy.prod(shape)), dtype=numpy.uint64) * numpy.uint64(0x9e3779b97f4a7c15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94d049bb133111eb)
        z = z ^ (z >> numpy.uint64(31))
    return ((z >> numpy.uint64(40)).astype(numpy.float32) / numpy.float32(2**24)).reshape(shape)


def bits(name, *shape):
    return (uniform(name, *shape) < 0.5).astype(numpy.float32)


def layer(name, *shape, fan_in, scale=1):
    """Weight and bias, uniform on +- scale / sqrt(fan in)."""
    bound = numpy.float32(scale) / numpy.sqrt(numpy.float32(fan_in))
    outputs = shape[0] if len(shape) == 4 else shape[1]
    return {f"{name}.weight": bound * (2 * uniform(f"{name}.weight", *shape) - 1),
            f"{name}.bias": bound * (2 * uniform(f"{name}.bias", outputs) - 1)}


def mlp_weights():
    """By the names that ort-ed gives them; products are x @ weight. The last layer is large, so that energies differ."""
    weights = {}
    for number, inputs in enumerate((32, 256, 256), 1):
        weights |= layer(f"hidden{number}", inputs, 256, fan_in=inputs)
        weights[f"hidden{number}.slope"] = numpy.ones((), numpy.float32)
    return weights | layer("output", 256, 1, fan_in=256, scale=10)


def resnet_weights():
    """By the names that ort-ed gives them; kernels are outputs x inputs x 3 x 3."""
    weights = layer("input", MAPS, 1, 3, 3, fan_in=9)
    for block in range(1, BLOCKS + 1):
        for part in ("conv1", "conv2"):
            weights |= layer(f"block{block}.{part}", MAPS, MAPS, 3, 3, fan_in=9 * MAPS)
        if block <= DOWN:
            weights |= layer(f"block{block}.shortcut", MAPS, MAPS, 1, 1, fan_in=MAPS)
    return weights | layer("output", MAPS, 1, fan_in=MAPS, scale=1000)


def weights_of(network):
    return mlp_weights() if network == "mlp" else resnet_weights()


def contrastive_rows(batch, epsilon, dimension, **_):
    """Fixed positives [batch, 1, dimension] and their negatives [batch, NEGATIVES, dimension]."""
    positives = bits("positives", batch, 1, dimension)
    flips = uniform("flips", batch, NEGATIVES, dimension) < epsilon
    return positives, numpy.abs(positives - flips).astype(numpy.float32)


def couplings():
    """J of -s'Js on the periodic lattice."""
    matrix = numpy.zeros((SIDE * SIDE, SIDE * SIDE), numpy.float32)
    for y in range(SIDE):
        for x in range(SIDE):
            for other in ((y + 1) % SIDE * SIDE + x, y * SIDE + (x + 1) % SIDE):
                matrix[y * SIDE + x, other] = matrix[other, y * SIDE + x] = SIGMA
    return matrix


def mean_and_error(energies):
    energies = numpy.asarray(energies, float)
    return [energies.mean(), energies.std() / numpy.sqrt(len(energies))]


def timed(task, count, clock=time.perf_counter):
    best = float("inf")
    for _ in range(count):
        start = clock()
        value = task()
        best = min(best, clock() - start)
    return best, value


def resident_peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def serve(make_task):
    """Answers commands. The task is made for a number of threads; what it returns after one call is a number. `units`, if it has
    them, are how many a call does."""
    task, before = None, resident_peak()
    for line in sys.stdin:
        command, count = line.split()
        if command == "threads":
            task, answer = make_task(int(count)), "ok"
        elif command == "check":
            answer = " ".join(f"{value:.6f}" for value in task.check())
        elif command == "memory":
            answer = f"{resident_peak():.1f} {before:.1f}"
        else:
            seconds, value = timed(task, int(count), time.process_time if command == "processor" else time.perf_counter)
            answer = f"{seconds / getattr(task, 'units', 1):.8f} {value:.6f}"
        print(answer, flush=True)
