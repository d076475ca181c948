// Writes docs/operators.md, or says whether it is up to date: `operators_page FILE [--write]`. Exit code 77:
// the page is of another opset than the linked onnx library knows.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <span>
#include <sstream>
#include <string>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include "runtime/session.h"
#include "trainer/autodiff/rules.h"
#include "trainer/expand/expand_operators.h"

namespace ort_ed {
namespace {

using onnx::OpSchema;

constexpr char kIntroduction[] =
    R"(Which standard operators an energy model may have: whether ONNX Runtime scores them on the CPU, and whether a gradient passes them in
training. What takes a gradient to nothing ("derivative 0") may stand wherever nothing behind it is to be learned: indices, masks, comparisons,
shapes. `ort-ed check` says it of a model. Newer operators and those of com.microsoft are at the end. Written by tests/docs/operators_page.cc.
)";

// Of the operators that neither have a rule nor are constant; others have none yet.
const std::map<std::string, std::string>& Reasons() {
  static const std::map<std::string, std::string> reasons = {
      {"If", "only where the condition is constant"},
      {"Loop", "loops are not unrolled"},
      {"Scan", "loops are not unrolled"},
      {"Optional", "no tensor"},
      {"OptionalGetElement", "no tensor"},
      {"OptionalHasElement", "no tensor"},
  };
  return reasons;
}

std::string WhyNot(const std::string& op) {
  if (const auto found = Reasons().find(op); found != Reasons().end()) return found->second;
  if (op.find("Sequence") != std::string::npos) return "sequences";
  if (op.find("Quant") != std::string::npos || op.ends_with("Integer")) return "whole numbers";
  if (op.find("String") != std::string::npos || op == "TfIdfVectorizer") return "texts";
  return "no rule yet";
}

std::string Trains(const std::string& op, int64_t opset) {
  if (IsExpanded("", op)) return "yes, by the operators that it is made of";
  switch (Classify("", op, opset)) {
    case Differentiability::kRule:
      return "yes";
    case Differentiability::kLeaf:
      return "derivative 0";
    case Differentiability::kNone:
      return "no: " + WhyNot(op);
  }
  return "";
}

// The first of these types that a parameter takes.
std::string TypeOf(const OpSchema::FormalParameter& parameter) {
  for (const char* type :
       {"tensor(float)", "tensor(int64)", "tensor(bool)", "tensor(uint8)", "tensor(string)"})
    for (const auto* allowed : parameter.GetTypes())
      if (*allowed == type) return type;
  return "";
}

int32_t ElementType(const std::string& type) {
  const std::map<std::string, int32_t> types = {{"tensor(float)", onnx::TensorProto::FLOAT},
                                                {"tensor(int64)", onnx::TensorProto::INT64},
                                                {"tensor(bool)", onnx::TensorProto::BOOL},
                                                {"tensor(uint8)", onnx::TensorProto::UINT8},
                                                {"tensor(string)", onnx::TensorProto::STRING}};
  return types.at(type);
}

// One node with the inputs that it needs. False where an input is no tensor.
bool MakeModel(const OpSchema& schema, int64_t opset, onnx::ModelProto& model) {
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("one");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(schema.Name());
  for (int i = 0; i < std::max(schema.min_input(), 0); ++i) {
    const auto& inputs = schema.inputs();
    const std::string type = TypeOf(inputs[std::min<size_t>(i, inputs.size() - 1)]);
    if (type.empty()) return false;
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name("x" + std::to_string(i));
    input.mutable_type()->mutable_tensor_type()->set_elem_type(ElementType(type));
    node.add_input(input.name());
  }
  node.add_output("y");
  graph.add_output()->set_name("y");
  return true;
}

// ONNX Runtime looks for a kernel when it opens a model; what else it finds wrong with a node without
// attributes says nothing of that.
std::string Scores(const OpSchema& schema, int64_t opset) {
  onnx::ModelProto model;
  if (!MakeModel(schema, opset, model)) return "yes";
  const std::string bytes = model.SerializeAsString();
  try {
    Ort::SessionOptions options = MakeSessionOptions(Device{}, 1);
    const Ort::Session session(Environment(), bytes.data(), bytes.size(), options);
  } catch (const Ort::Exception& error) {
    if (error.GetOrtErrorCode() == ORT_NOT_IMPLEMENTED) return "no";
  }
  return "yes";
}

// The newest form of each standard operator that is not withdrawn.
std::map<std::string, OpSchema> NewestSchemas() {
  std::map<std::string, OpSchema> schemas;
  for (const OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (!schema.domain().empty()) continue;
    const auto [known, is_new] = schemas.try_emplace(schema.Name(), schema);
    if (!is_new && known->second.SinceVersion() < schema.SinceVersion()) known->second = schema;
  }
  std::erase_if(schemas, [](const auto& entry) { return entry.second.Deprecated(); });
  return schemas;
}

int64_t NewestOpset(const std::map<std::string, OpSchema>& schemas) {
  int64_t newest = 0;
  for (const auto& [name, schema] : schemas) newest = std::max<int64_t>(newest, schema.SinceVersion());
  return newest;
}

void WriteOthers(std::ostream& page, int64_t opset, const std::map<std::string, OpSchema>& schemas) {
  page << "\n## Newer operators\n\nWith a gradient:";
  const char* separator = " ";
  for (const GradientRule& rule : AllGradientRules()) {
    if (schemas.contains(rule.op)) continue;
    page << separator << rule.op << " (" << rule.since_opset << ")";
    separator = ", ";
  }
  for (const char* op : {"Attention", "RMSNormalization", "RotaryEmbedding"})
    if (IsExpanded("", op) && opset < 23) page << separator << op << " (23)";
  page << ".\n\n## com.microsoft\n\nWith a gradient:";
  separator = " ";
  for (const char* op : {"BiasGelu", "FastGelu", "FusedGemm", "FusedMatMul", "Gelu", "QuickGelu",
                         "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}) {
    if (IsExpanded("com.microsoft", op)) page << separator << op;
    separator = ", ";
  }
  page << ".\n";
}

std::string Page() {
  const auto schemas = NewestSchemas();
  const int64_t opset = NewestOpset(schemas);
  std::ostringstream page;
  page << "# Operators of opset " << opset << "\n\n"
       << kIntroduction << "\n| operator | scores | trains |\n|---|---|---|\n";
  for (const auto& [name, schema] : schemas)
    page << "| " << name << " | " << Scores(schema, opset) << " | " << Trains(name, opset) << " |\n";
  WriteOthers(page, opset, schemas);
  return page.str();
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int Run(const std::string& path, bool write) {
  const std::string page = Page();
  if (write) {
    std::ofstream(path) << page;
    return 0;
  }
  const std::string known = Read(path);
  if (known == page) return 0;
  if (known.substr(0, known.find('\n')) != page.substr(0, page.find('\n'))) {
    std::cerr << "SKIPPED: the page is of another opset than the linked onnx library\n";
    return 77;
  }
  std::cerr << path << " is out of date; write it anew with `operators_page " << path << " --write`\n";
  return 1;
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: operators_page FILE [--write]\n";
    return 2;
  }
  return ort_ed::Run(argv[1], argc > 2 && std::string(argv[2]) == "--write");
}
