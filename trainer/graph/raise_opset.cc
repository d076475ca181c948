#include "trainer/graph/raise_opset.h"

#include <array>
#include <limits>
#include <span>

#include "models/graph/standard_domain.h"
#include "ort_ed/error.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/infer_shapes.h"
#include "trainer/graph/opsets.h"

namespace ort_ed {
namespace {

constexpr int64_t kOldestOpset = 7;

[[noreturn]] void Fail(const onnx::NodeProto& node, const std::string& why) {
  throw Error(ErrorCode::kBadModel, "cannot raise the opset of " + DescribeNode(node) + ": " + why +
                                        "; export the model with opset " +
                                        std::to_string(kOldestDifferentiableOpset) + " or newer.");
}

// The nodes under construction, and what adapters need to know.
struct Rewriter {
  GraphNames& names;
  const TensorInfos& infos;
  Nodes nodes;

  std::string Constant(const onnx::TensorProto& tensor) {
    onnx::NodeProto& node = *nodes.Add();
    node.set_op_type("Constant");
    node.set_name(names.Fresh("raised_constant"));
    node.add_output(names.Fresh(node.name() + "_value"));
    onnx::AttributeProto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    *value.mutable_t() = tensor;
    return node.output(0);
  }

  std::string Floats(const google::protobuf::RepeatedField<float>& values) {
    onnx::TensorProto tensor;
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(values.size());
    *tensor.mutable_float_data() = values;
    return Constant(tensor);
  }

  std::string Ints(const google::protobuf::RepeatedField<int64_t>& values) {
    onnx::TensorProto tensor;
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(values.size());
    *tensor.mutable_int64_data() = values;
    return Constant(tensor);
  }

  // A scalar of the element type of `like`.
  std::string Number(float value, const std::string& like) {
    const auto info = infos.find(like);
    onnx::TensorProto tensor;
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_float_data(value);
    const std::string constant = Constant(tensor);
    if (info == infos.end() || info->second.type == onnx::TensorProto::FLOAT) return constant;
    onnx::NodeProto& cast = *nodes.Add();
    cast.set_op_type("Cast");
    cast.add_input(constant);
    cast.add_output(names.Fresh(constant + "_cast"));
    onnx::AttributeProto& to = *cast.add_attribute();
    to.set_name("to");
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(info->second.type);
    return cast.output(0);
  }
};

// Removes an attribute and returns it; name() is empty if there was none.
onnx::AttributeProto Take(onnx::NodeProto& node, const std::string& name) {
  auto& attributes = *node.mutable_attribute();
  for (int i = 0; i < attributes.size(); ++i) {
    if (attributes[i].name() != name) continue;
    const onnx::AttributeProto taken = attributes[i];
    attributes.DeleteSubrange(i, 1);
    return taken;
  }
  return {};
}

void SetInput(onnx::NodeProto& node, int i, const std::string& name) {
  while (node.input_size() <= i) node.add_input("");
  node.set_input(i, name);
}

void IntsToInput(Rewriter& out, onnx::NodeProto& node, const std::string& attribute, int i) {
  const onnx::AttributeProto taken = Take(node, attribute);
  if (!taken.name().empty()) SetInput(node, i, out.Ints(taken.ints()));
}

void NumberToInput(Rewriter& out, onnx::NodeProto& node, const std::string& attribute, int i) {
  const onnx::AttributeProto taken = Take(node, attribute);
  if (!taken.name().empty()) SetInput(node, i, out.Number(taken.f(), node.input(0)));
}

void Axes(Rewriter& out, onnx::NodeProto node) {
  IntsToInput(out, node, "axes", 1);
  *out.nodes.Add() = node;
}

void Split(Rewriter& out, onnx::NodeProto node) {
  IntsToInput(out, node, "split", 1);
  *out.nodes.Add() = node;
}

void Slice(Rewriter& out, onnx::NodeProto node) {
  IntsToInput(out, node, "starts", 1);
  IntsToInput(out, node, "ends", 2);
  IntsToInput(out, node, "axes", 3);
  *out.nodes.Add() = node;
}

void Clip(Rewriter& out, onnx::NodeProto node) {
  NumberToInput(out, node, "min", 1);
  NumberToInput(out, node, "max", 2);
  *out.nodes.Add() = node;
}

void Pad(Rewriter& out, onnx::NodeProto node) {
  IntsToInput(out, node, "pads", 1);
  NumberToInput(out, node, "value", 2);
  *out.nodes.Add() = node;
}

void TopK(Rewriter& out, onnx::NodeProto node) {
  const onnx::AttributeProto k = Take(node, "k");
  google::protobuf::RepeatedField<int64_t> values;
  values.Add(k.i());
  SetInput(node, 1, out.Ints(values));
  *out.nodes.Add() = node;
}

void Dropout(Rewriter& out, onnx::NodeProto node) {
  Take(node, "ratio");  // has no effect in inference
  *out.nodes.Add() = node;
}

void Scatter(Rewriter& out, onnx::NodeProto node) {
  node.set_op_type("ScatterElements");
  *out.nodes.Add() = node;
}

void BatchNormalization(Rewriter& out, onnx::NodeProto node) {
  const onnx::AttributeProto spatial = Take(node, "spatial");
  if (!spatial.name().empty() && spatial.i() == 0) Fail(node, "it normalises each position by itself");
  for (int i = 1; i < node.output_size(); ++i) {
    if (!node.output(i).empty()) Fail(node, "it is in training mode");
  }
  *out.nodes.Add() = node;
}

// Before opset 13 Softmax and its kin worked on a matrix: the axes before `axis` are its rows, the others its
// columns.
void OfMatrix(Rewriter& out, onnx::NodeProto node) {
  const onnx::AttributeProto given = Take(node, "axis");
  const int64_t axis = given.name().empty() ? 1 : given.i();
  onnx::AttributeProto last;
  last.set_name("axis");
  last.set_type(onnx::AttributeProto::INT);
  last.set_i(-1);
  const auto info = out.infos.find(node.input(0));
  if (info != out.infos.end() && info->second.has_rank && (axis == -1 || axis == info->second.rank() - 1)) {
    *node.add_attribute() = last;
    *out.nodes.Add() = node;
    return;
  }
  const std::string x = node.input(0), y = node.output(0);
  const auto append = [&](const std::string& op, std::initializer_list<std::string> inputs) {
    onnx::NodeProto& added = *out.nodes.Add();
    added.set_op_type(op);
    for (const auto& input : inputs) added.add_input(input);
    added.add_output(out.names.Fresh(y + "_" + op));
    return &added;
  };
  onnx::NodeProto* flat = append("Flatten", {x});
  *flat->add_attribute() = last;
  flat->mutable_attribute(0)->set_i(axis);
  onnx::NodeProto* result = append(node.op_type(), {flat->output(0)});
  *result->add_attribute() = last;
  result->set_name(node.name());
  const onnx::NodeProto* shape = append("Shape", {x});
  append("Reshape", {result->output(0), shape->output(0)})->set_output(0, y);
}

void AddText(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

// Upsample, and Resize as it was before opset 11: x and scales, counted from the corner.
void Resize(Rewriter& out, onnx::NodeProto node) {
  const onnx::AttributeProto attribute = Take(node, "scales");
  const std::string scales = node.input_size() > 1 ? node.input(1) : out.Floats(attribute.floats());
  SetInput(node, 1, "");
  SetInput(node, 2, scales);
  node.set_op_type("Resize");
  AddText(node, "coordinate_transformation_mode", "asymmetric");
  AddText(node, "nearest_mode", "floor");
  *out.nodes.Add() = node;
}

void NoEquivalent(Rewriter&, onnx::NodeProto node) { Fail(node, "it has no equivalent in newer opsets"); }

// An operator whose form of before `opset` needs rewriting.
struct Adapter {
  const char* op;
  int64_t opset;
  void (*adapt)(Rewriter& out, onnx::NodeProto node);
};

constexpr std::array kAdapters = {
    Adapter{"Clip", 11, Clip},
    Adapter{"Pad", 11, Pad},
    Adapter{"Slice", 10, Slice},
    Adapter{"TopK", 10, TopK},
    Adapter{"Squeeze", 13, Axes},
    Adapter{"Unsqueeze", 13, Axes},
    Adapter{"ReduceSum", 13, Axes},
    Adapter{"Split", 13, Split},
    Adapter{"Softmax", 13, OfMatrix},
    Adapter{"LogSoftmax", 13, OfMatrix},
    Adapter{"Hardmax", 13, OfMatrix},
    Adapter{"Dropout", 12, Dropout},
    Adapter{"BatchNormalization", 14, BatchNormalization},
    Adapter{"Scatter", std::numeric_limits<int64_t>::max(), Scatter},
    Adapter{"Upsample", std::numeric_limits<int64_t>::max(), Resize},
    Adapter{"Resize", 11, Resize},
    Adapter{"Scan", 9, NoEquivalent},
};

const Adapter* FindAdapter(const onnx::NodeProto& node, int64_t opset) {
  if (!IsStandardDomain(node.domain())) return nullptr;
  for (const Adapter& adapter : kAdapters) {
    if (adapter.op == node.op_type() && opset < adapter.opset) return &adapter;
  }
  return nullptr;
}

void RaiseNodes(Nodes& nodes, int64_t opset, GraphNames& names, const TensorInfos& infos) {
  Rewriter rewriter{names, infos, {}};
  for (auto& node : nodes) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) RaiseNodes(*attribute.mutable_g()->mutable_node(), opset, names, infos);
    }
    if (const Adapter* adapter = FindAdapter(node, opset)) {
      adapter->adapt(rewriter, node);
    } else {
      *rewriter.nodes.Add() = node;
    }
  }
  nodes.Swap(&rewriter.nodes);
}

// Whether nodes of this import are to be raised.
bool IsOld(const onnx::OperatorSetIdProto* opset, const std::string& who) {
  if (!opset || opset->version() >= kOldestDifferentiableOpset) return false;
  if (opset->version() >= kOldestOpset) return true;
  throw Error(ErrorCode::kBadModel, who + " uses opset " + std::to_string(opset->version()) +
                                        "; opset 7 is the oldest that runs: export it with a newer one.");
}

}  // namespace

void RaiseOpset(onnx::ModelProto& model) {
  GraphNames names(model);
  if (onnx::OperatorSetIdProto* opset = StandardImport(model); IsOld(opset, "the model")) {
    RaiseNodes(*model.mutable_graph()->mutable_node(), opset->version(), names, InferShapes(model));
    opset->set_version(kOldestDifferentiableOpset);
  }
  for (auto& function : *model.mutable_functions()) {
    onnx::OperatorSetIdProto* opset = StandardImport(function);
    if (!IsOld(opset, "the function '" + function.name() + "'")) continue;
    RaiseNodes(*function.mutable_node(), opset->version(), names, {});
    opset->set_version(kOldestDifferentiableOpset);
  }
}

}  // namespace ort_ed
