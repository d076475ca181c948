#!/usr/bin/env python3
"""autograd_test.py MODEL_GRADIENTS [PART_OF_A_NAME]: gradients of networks that PyTorch exports, by both of its exporters, against
PyTorch's autograd: by every parameter and by the input, with our own kernels and of standard operators alone."""
import contextlib
import io
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

SKIPPED = 77

try:
    import numpy
    import onnx
    import onnx.numpy_helper
    import onnxscript  # noqa: F401
    import torch
except ImportError as missing:
    print(f"SKIPPED: {missing}; `tools/setup.sh --torch` brings PyTorch and its exporter")
    sys.exit(SKIPPED)

from networks import networks  # noqa: E402

ROWS = 5
TOLERANCE = 2e-4  # of the largest entry: two float computations in another order


def export(module, x, path, dynamo):
    names = {"input_names": ["x"], "output_names": ["energy"]}
    with contextlib.redirect_stdout(io.StringIO()):
        export_by(module, x, path, dynamo, names)


def export_by(module, x, path, dynamo, names):
    if dynamo:
        torch.onnx.export(module, (x,), dynamo=True, dynamic_shapes=({0: torch.export.Dim.DYNAMIC},), verbose=False, **names).save(str(path))
    else:
        torch.onnx.export(module, (x,), str(path), dynamo=False, dynamic_axes={"x": {0: "batch"}, "energy": {0: "batch"}}, **names)


@torch.no_grad()
def part_equals(module):
    """Where two parameters are equal, as norms are at first, an exporter stores one."""
    for parameter in module.parameters():
        parameter += 0.05 * torch.randn_like(parameter)


def kept(module, path):
    """The parameters that are in the file as they are. Exporters fold some into others, which may keep their names: a BatchNorm into the
    layer before it."""
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor).reshape(-1) for tensor in onnx.load(path).graph.initializer}
    values = {name: parameter.detach().numpy().reshape(-1) for name, parameter in module.named_parameters()}
    return {name for name in values if name in stored and numpy.array_equal(stored[name], values[name])}


def expected(module, x, c):
    x = x.clone().requires_grad_()
    (module(x) * c).sum().backward()
    return {**{name: p.grad for name, p in module.named_parameters() if p.grad is not None}, "x": x.grad}


def found(program, path, folder, kind):
    done = subprocess.run([program, path, folder, kind], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    gradients, values = {}, numpy.fromfile(folder / "gradients.bin", numpy.float32)
    for line in done.stdout.splitlines():
        name, size = line.rsplit(" ", 1)
        gradients[name], values = values[:int(size)], values[int(size):]
    return gradients


def fault(gradients, wanted, names):
    """What is wrong. Exporters fold, transpose and rename some parameters: the others, `names`, are compared, and x, to which
    the gradient comes through all of them. Where a gradient is zero, as that of a bias before a normalisation, rounding errors of the
    others are left."""
    if isinstance(gradients, str):
        return gradients
    largest = max(float(gradient.abs().max()) for gradient in wanted.values())
    for name, gradient in wanted.items():
        values = gradient.numpy().reshape(-1)
        if name == "x" and name not in gradients:
            return "no gradient of the input"
        if name not in gradients or (name != "x" and name not in names):
            continue
        off = float(numpy.abs(gradients[name] - values).max()) / max(float(numpy.abs(values).max()), 1e-2 * largest, 1e-5)
        if not off <= TOLERANCE:
            return f"the gradient of {name} is off by {off:.1e} of its largest entry"
    return ""


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    faults = compared = 0
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root)
        for name, bits, module in networks():
            if only not in name:
                continue
            module.eval()
            part_equals(module)
            x, c = torch.rand(ROWS, bits), torch.randn(ROWS)
            x.numpy().tofile(folder / "x.bin")
            c.numpy().tofile(folder / "c.bin")
            wanted = expected(module, x, c)
            for dynamo in (False, True):
                path = folder / "model.onnx"
                try:
                    export(module, x, path, dynamo)
                except Exception as error:  # an exporter's own limits are not ours
                    print(f"{name}, {'dynamo' if dynamo else 'script'}: not exported: {str(error).strip().splitlines()[0][:120]}")
                    continue
                for kind in ("standard", "kernels"):
                    compared += 1
                    if why := fault(found(program, path, folder, kind), wanted, kept(module, path)):
                        faults += 1
                        print(f"FAILED: {name}, {'dynamo' if dynamo else 'script'}, {kind}: {why}")
    print(f"{compared} models compared, {faults} faults")
    return faults > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
