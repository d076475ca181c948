#!/usr/bin/env python3
"""ort_training_test.py ORT_ED OUR_STEPS: ONNX Runtime's on-device training goes on with runs of ours, by the artefacts of
`ort-ed export --ort-training`: the losses of 20 steps, the parameters after them, the loss without a step and the energies of the model
that it cuts out for inference are those that we compute."""
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
STEPS = 20

try:
    import numpy
    import onnxruntime
    from onnxruntime.training.api import CheckpointState, Module, Optimizer
except ImportError as missing:
    print(f"SKIPPED: {missing}; `tools/setup.sh --torch` brings ONNX Runtime's training")
    sys.exit(SKIPPED)

RATE = 1e-3
SMALL = ["--learning-rate", str(RATE), "--batch-size", "16", "--steps", "8", "--validation-fraction", "0"]
RUNS = {
    "mlp": ["--data", "synth:moons", "--model", "mlp"],
    "rbm": ["--data", "synth:moons", "--model", "rbm", "--negatives", "8"],
    "resnet": ["--data", "bits.npy", "--model", "resnet", "--image-shape", "8x8", "--channels", "8", "--blocks", "2", "--base", "data",
               "--method", "bernoulli", "--epsilon", "0.1"],
    "ising, adamw, no clipping": ["--data", "bits.npy", "--model", "ising", "--method", "bernoulli", "--optimizer", "adamw", "--weight-decay",
                                  "0.1", "--clip", "0"],
    "mlp, gradient descent, grid": ["--data", "synth:moons", "--model", "mlp", "--optimizer", "sgd", "--momentum", "0", "--method", "grid"],
    "made": ["--data", "bits.npy", "--model", "made"],
}


def call(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: `{' '.join(map(str, arguments))}` ended with {done.returncode}\n{done.stderr}")
    return done.stdout


class Ours:
    """Batches, losses and parameters of our_steps."""

    def __init__(self, our_steps, run, folder):
        rows, negatives, bits, weighted, *self.names = call(our_steps, run, STEPS, folder).split()
        rows, negatives, bits = int(rows), int(negatives), int(bits)
        self.losses = numpy.fromfile(folder / "losses.bin", numpy.float64)
        self.parameters = numpy.fromfile(folder / "parameters.bin", numpy.float32)
        groups = rows * (1 + negatives)
        step = numpy.dtype([("rows", numpy.uint8, groups * bits), ("weights", numpy.float32, groups if weighted == "1" else 0)])
        self.batches = []
        for batch in numpy.fromfile(folder / "batches.bin", step):
            group = batch["rows"].reshape(rows, 1 + negatives, bits).astype(numpy.float32)
            inputs = [group[:, 0], group[:, 1:]] if negatives else [group[:, 0]]
            if weighted == "1":
                inputs.append(batch["weights"].reshape(rows, 1 + negatives))
            self.batches.append(inputs)


def largest(differences):
    return float(numpy.abs(differences).max())


# Adam divides rounding errors by one another where a gradient is zero, such as that of a constant in the energy: hence a quantile of the
# parameters.
def compare(name, ort_ed, our_steps, folder):
    run, artefacts = folder / "run", folder / "artefacts"
    call(ort_ed, "train", *RUNS[name], *SMALL, "-o", run)
    call(ort_ed, "export", run, "--ort-training", artefacts, "-o", folder / "model.onnx", "--weights", "raw")
    ours = Ours(our_steps, run, folder)
    state = CheckpointState.load_checkpoint(str(artefacts / "checkpoint"))
    module = Module(str(artefacts / "training_model.onnx"), state, str(artefacts / "eval_model.onnx"))
    optimizer = Optimizer(str(artefacts / "optimizer_model.onnx"), module)
    optimizer.set_learning_rate(RATE)
    module.eval()
    inference = folder / "inference.onnx"
    module.export_model_for_inferencing(str(inference), [module.output_names()[-1]])
    numpy.save(folder / "rows.npy", ours.batches[0][0].astype(numpy.uint8))
    energies = []
    for model in (folder / "model.onnx", inference):
        call(ort_ed, "score", model, folder / "rows.npy", "-o", folder / "energies.npy")
        energies.append(numpy.load(folder / "energies.npy").reshape(len(ours.batches[0][0]), -1)[:, 0])
    evaluated = float(module(*ours.batches[0])[0])
    module.train()
    losses = []
    for batch in ours.batches:
        losses.append(float(module(*batch)[0]))
        optimizer.step()
        module.lazy_reset_grad()
    trained = numpy.concatenate([state.parameters[n].data.reshape(-1) for n in ours.names])
    off = {"losses": largest(losses - ours.losses), "loss without a step": abs(evaluated - losses[0]),
           "parameters": float(numpy.quantile(numpy.abs(trained - ours.parameters), 0.99)),
           "energies": largest(energies[1] - energies[0]) / max(1, largest(energies[0]))}
    print(f"{name}: losses {losses[0]:.6f} ... {losses[-1]:.6f}; off by", ", ".join(f"{k} {v:.1e}" for k, v in off.items()))
    scale = max(1, largest(ours.losses))
    if largest(ours.losses - ours.losses[0]) < 1e-4:
        sys.exit(f"FAILED: {name}: the losses do not change, so that they say nothing")
    if not (off["losses"] <= 1e-5 * scale and off["loss without a step"] <= 1e-5 * scale and off["parameters"] <= 1e-4 and off["energies"] <= 1e-5):
        sys.exit(f"FAILED: {name} differs")


def main():
    ort_ed, our_steps = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    onnxruntime.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as root:
        os.chdir(root)
        numpy.save("bits.npy", (numpy.random.default_rng(2).random((400, 64)) < 0.3).astype(numpy.uint8))
        for i, name in enumerate(RUNS):
            folder = pathlib.Path(root) / str(i)
            folder.mkdir()
            compare(name, ort_ed, our_steps, folder)


if __name__ == "__main__":
    main()
