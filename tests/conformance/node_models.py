"""Energy models around single operators: the operator's inputs are initialisers, and the energy is the sum of its outputs, each times a
fixed number, times a weight of the row, and a linear function of the row."""
import copy

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

ROW_WEIGHTS = numpy.array([0.4, -0.3, 0.7, 0.2], numpy.float32)
LINEAR = numpy.array([0.5, 0.1, -0.2, 0.3], numpy.float32)
NUMBERS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BOOL, TensorProto.INT8, TensorProto.INT16,
           TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64)
NOT_LEARNED = {"Resize": ("scales", "roi"), "OneHot": ("indices", "depth")}  # by names in the tests; numbers that say where
OLDEST_OPSET = 7  # with the operators of the energy as they are written here
NEWEST_IR = 10


class NotForAnEnergy(Exception):
    """Why a test says nothing of energy models."""


def all_rows():
    return numpy.array([[n >> k & 1 for k in range(len(LINEAR))] for n in range(2 ** len(LINEAR))], numpy.uint8)


def element_type(value):
    if value.type.WhichOneof("value") != "tensor_type":
        raise NotForAnEnergy("sequences and optional values")
    if value.type.tensor_type.elem_type not in NUMBERS:
        raise NotForAnEnergy("texts and numbers of other kinds")
    return value.type.tensor_type.elem_type


def initialiser(info, value):
    kind = element_type(info)
    if isinstance(value, TensorProto):
        raise NotForAnEnergy("types that numpy has not")
    tensor = numpy_helper.from_array(numpy.asarray(value), info.name)
    if tensor.data_type != kind:
        raise NotForAnEnergy("inputs of another type than is declared")
    return tensor


def finite(output):
    if isinstance(output, TensorProto):
        raise NotForAnEnergy("types that numpy has not")
    numbers = numpy.asarray(output).astype(numpy.float64)
    if numbers.size == 0:
        raise NotForAnEnergy("empty outputs")
    if not numpy.isfinite(numbers).all() or abs(numbers).max() > 1e6:
        raise NotForAnEnergy("infinite or huge outputs")
    return numbers


def not_learned(model):
    names = {name for node in model.graph.node for name in NOT_LEARNED.get(node.op_type, ()) if name in node.input}
    return [tensor.name for tensor in model.graph.initializer if tensor.name in names and tensor.data_type == TensorProto.FLOAT]


def off_kinks(value):
    array = numpy.asarray(value)
    if array.dtype.kind != "f" or array.size == 0:
        return value
    random = numpy.random.default_rng(3)
    scale, shift = random.uniform(-1, 1, (2, *array.shape))
    return (array * (1 + 0.01 * scale) + 0.003 * shift).astype(array.dtype)


class EnergyOf:
    def __init__(self, case):
        self.case = case
        self.inputs, self.outputs = case.data_sets[0]
        opsets = {opset.domain: opset.version for opset in case.model.opset_import}
        if set(opsets) - {"", "ai.onnx"}:
            raise NotForAnEnergy("other domains")
        if min(opsets.values()) < OLDEST_OPSET:
            raise NotForAnEnergy("old opsets")
        self.model = self._model()

    def of(self, rows):
        return rows @ ROW_WEIGHTS.astype(numpy.float64) * self.total + rows @ LINEAR.astype(numpy.float64)

    def moved(self):
        other = copy.copy(self)
        other.inputs = [off_kinks(value) for value in self.inputs]
        other.model = other._model()
        return other

    def _model(self):
        graph = self.case.model.graph
        initialisers = [*graph.initializer, *(initialiser(info, value) for info, value in zip(graph.input, self.inputs)),
                        numpy_helper.from_array(ROW_WEIGHTS, "e_row"), numpy_helper.from_array(LINEAR, "e_linear")]
        nodes, sums = list(graph.node), []
        self.total = self.size = 0.0
        random = numpy.random.default_rng(7)
        for k, (info, output) in enumerate(zip(graph.output, self.outputs)):
            element_type(info)
            numbers = finite(output)
            weights = random.normal(size=numbers.shape).astype(numpy.float32)
            self.total += (numbers * weights).sum()
            self.size += abs(numbers * weights).sum()
            initialisers.append(numpy_helper.from_array(weights, f"e_weights_{k}"))
            nodes += [helper.make_node("Cast", [info.name], [f"e_float_{k}"], to=TensorProto.FLOAT),
                      helper.make_node("Mul", [f"e_float_{k}", f"e_weights_{k}"], [f"e_weighted_{k}"]),
                      helper.make_node("ReduceSum", [f"e_weighted_{k}"], [f"e_sum_{k}"], keepdims=0)]
            sums.append(f"e_sum_{k}")
        nodes += [helper.make_node("Sum", sums, ["e_total"]), helper.make_node("MatMul", ["e_rows", "e_row"], ["e_weight"]),
                  helper.make_node("Mul", ["e_weight", "e_total"], ["e_share"]),
                  helper.make_node("MatMul", ["e_rows", "e_linear"], ["e_bias"]),
                  helper.make_node("Add", ["e_share", "e_bias"], ["energy"])]
        rows = helper.make_tensor_value_info("e_rows", TensorProto.FLOAT, ["batch", len(LINEAR)])
        energy = helper.make_tensor_value_info("energy", TensorProto.FLOAT, ["batch"])
        model = helper.make_model(helper.make_graph(nodes, self.case.name, [rows], [energy], initialisers),
                                  opset_imports=self.case.model.opset_import, functions=self.case.model.functions)
        model.ir_version = min(max(self.case.model.ir_version, 4), NEWEST_IR)
        return model
