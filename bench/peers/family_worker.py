"""PyTorch's training step of a network of bench/families.py, commands as in bench/peers/common.py; or that network as a file.

    family_worker.py FAMILY [--channels-last] [--compiled]
    family_worker.py FAMILY --write FILE.onnx
"""
import sys

import torch

import common
import family_networks
from family_table import FAMILIES
from torch_worker import TrainingStep


def make_task(family, options, threads):
    torch.set_num_threads(threads)
    network = family_networks.network(family)
    if "--channels-last" in options:
        network = network.to(memory_format=torch.channels_last)
        network.channels_last = True
    entry = FAMILIES[family]
    return TrainingStep(network, "--compiled" in options, entry.batch, dimension=entry.dimension, base=False, **common.FAMILY_SETTINGS)


def write(family, path):
    rows = torch.zeros(2, FAMILIES[family].dimension)
    torch.onnx.export(family_networks.network(family).eval(), (rows,), path, input_names=["x"], output_names=["energy"],
                      dynamic_shapes=({0: torch.export.Dim("rows")},), opset_version=20, external_data=False, verbose=False)


if "--write" in sys.argv:
    write(sys.argv[1], sys.argv[3])
else:
    common.serve(lambda threads: make_task(sys.argv[1], sys.argv[2:], threads))
