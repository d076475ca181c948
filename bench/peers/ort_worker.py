"""ONNX Runtime's own last release for training (1.19.2) on the tasks of bench/peers.py, commands as in bench/peers/common.py.

Start with the task: ort_worker.py train-mlp

Its training step does less than that of the others: rows and negatives are given, and there is no average of weights. It has no gradient for ReduceMax, so that the loss is log(1 + sum exp) as it stands.
"""
import contextlib
import os
import pathlib
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.training import artifacts
from onnxruntime.training.onnxblock import optim
from onnxruntime.training.api import CheckpointState, Module, Optimizer

import common

OPSET, IR = 17, 8  # what this release reads


class Graph:
    """A model in the making: each call adds a node and says the name of what it computes."""

    def __init__(self, weights, dimension):
        self.nodes, self.dimension = [], dimension
        self.weights = {name: numpy.asarray(value) for name, value in weights.items()}

    def __call__(self, operator, *inputs, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def constant(self, name, value):
        self.weights[name] = numpy.asarray(value)
        return name

    def model(self, output, shape):
        self("Identity", output)
        self.nodes[-1].output[0] = "result"
        graph = helper.make_graph(
            self.nodes, "task", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", self.dimension])],
            [helper.make_tensor_value_info("result", TensorProto.FLOAT, shape)],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)


def mlp(graph):
    """Energies [rows, 1]."""
    x = "x"
    for name in ("hidden1", "hidden2", "hidden3"):
        x = graph("Gemm", x, f"{name}.weight", f"{name}.bias")
        x = graph("Mul", x, graph("Sigmoid", graph("Mul", x, f"{name}.slope")))
    return graph("Gemm", x, "output.weight", "output.bias")


def convolution(graph, name, x, stride=1):
    size = graph.weights[f"{name}.weight"].shape[2]
    return graph("Conv", x, f"{name}.weight", f"{name}.bias", strides=[stride] * 2, pads=[size // 2] * 4)


def swish(graph, x):
    return graph("Mul", x, graph("Sigmoid", x))


def resnet(graph):
    """Energies [rows, 1]."""
    x = graph("Reshape", "x", graph.constant("image", [0, 1, 28, 28]))
    x = convolution(graph, "input", x)
    for block in range(1, common.BLOCKS + 1):
        name, stride = f"block{block}", 2 if block <= common.DOWN else 1
        inner = convolution(graph, f"{name}.conv2", swish(graph, convolution(graph, f"{name}.conv1", x, stride)))
        x = swish(graph, graph("Add", inner, convolution(graph, f"{name}.shortcut", x, stride) if stride > 1 else x))
    return graph("Gemm", graph("ReduceMean", x, axes=[2, 3], keepdims=0), "output.weight", "output.bias")


def weights_of(network):
    return common.weights_of(network.__name__)


def loss_model(network, batch, dimension):
    """The loss of given rows [batch * (1 + NEGATIVES), dimension], each positive before its negatives."""
    graph = Graph(weights_of(network), dimension)
    slope = numpy.float32(numpy.log(common.BASE_MEAN) - numpy.log(1 - common.BASE_MEAN))  # of the base; its constant cancels
    ones = graph("ReduceSum", "x", graph.constant("columns", [1]), keepdims=1)
    energies = graph("Sub", network(graph), graph("Mul", ones, graph.constant("base", slope)))
    groups = graph("Reshape", energies, graph.constant("groups", [batch, 1 + common.NEGATIVES]))
    positive = graph("Slice", groups, graph.constant("first", [0]), graph.constant("second", [1]), graph.constant("axis", [1]))
    # The positive's own term is the one in log(1 + sum over negatives).
    terms = graph("ReduceSum", graph("Exp", graph("Sub", positive, groups)), "axis", keepdims=0)
    return graph.model(graph("ReduceMean", graph("Log", terms), keepdims=0), [])


@contextlib.contextmanager
def without_messages():
    """What makes the gradients tells of every pass on standard error, whatever one asks."""
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


class TrainingStep:
    def __init__(self, threads, network, batch, epsilon, rate, clip, dimension):
        folder = pathlib.Path(tempfile.mkdtemp())
        names = list(weights_of(network))
        adam = optim.AdamW(eps=1e-8, clip_grad=optim.ClipGradNorm(float(clip)) if clip else None)
        with without_messages():
            artifacts.generate_artifacts(loss_model(network, batch, dimension), requires_grad=names, optimizer=adam,
                                         artifact_directory=str(folder))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.state = CheckpointState.load_checkpoint(str(folder / "checkpoint"))
        self.module = Module(str(folder / "training_model.onnx"), self.state, device="cpu", session_options=options)
        self.optimizer = Optimizer(str(folder / "optimizer_model.onnx"), self.module)
        self.optimizer.set_learning_rate(rate)
        self.module.train()
        self.rows = numpy.concatenate(common.contrastive_rows(batch, epsilon, dimension), 1).reshape(-1, dimension)

    def __call__(self):
        loss = self.module(self.rows)
        self.optimizer.step()
        self.module.lazy_reset_grad()
        return float(loss)

    def check(self):
        return [self() for _ in range(common.CHECKED_STEPS)]


class Scoring:
    """Energies of rows, in batches of the size that is best for it, by the same release's sessions for inference."""

    def __init__(self, threads, network, rows, dimension, batch):
        graph = Graph(weights_of(network), dimension)
        model = graph.model(network(graph), ["rows", 1])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        self.parts = numpy.split(common.bits("many", rows, dimension), rows // batch)
        self.dimension = dimension

    def energies(self, parts):
        return numpy.concatenate([self.session.run(None, {"x": part})[0][:, 0] for part in parts])

    def __call__(self):
        return self.energies(self.parts).mean()

    def check(self):
        return self.energies([common.bits("rows", common.CHECKED_ROWS, self.dimension)])


TASKS = {
    "train-mlp": lambda threads: TrainingStep(threads, mlp, **common.SETTINGS["mlp"]),
    "train-resnet": lambda threads: TrainingStep(threads, resnet, **common.SETTINGS["resnet"]),
    "score-mlp": lambda threads: Scoring(threads, mlp, 16384, 32, 1024),
    "score-resnet": lambda threads: Scoring(threads, resnet, 512, 784, 64),
}
common.serve(TASKS[sys.argv[1]])
