#include "runtime/support/gate/model_gate.h"

#include <algorithm>
#include <set>

#include "ort_ed/error.h"
#include "runtime/support/encoding/wire.h"
#include "runtime/support/gate/external_data.h"
#include "runtime/support/gate/function_calls.h"
#include "runtime/support/gate/onnx_fields.h"
#include "runtime/support/gate/operator_rules.h"
#include "runtime/support/gate/read_parts.h"
#include "runtime/support/gate/whole_division.h"

namespace ort_ed {
namespace {

using namespace onnx_field;
using Body = FunctionCalls::Body;

class Gate {
 public:
  Gate(const std::string& path, const std::string& name, Maker maker) : name_(name), maker_(maker) {
    if (!path.empty()) folder_ = ModelFolder(path);
  }

  void Check(std::string_view model) {
    std::vector<std::string_view> graphs, functions;
    ForEachPart(model, [&](uint32_t number, std::string_view part) {
      if (number == kModelGraph) graphs.push_back(part);
      if (number == kModelFunctions) functions.push_back(part);
      if (number == kModelMetadata) CheckEntry(part);
      if (number == kModelTraining) CheckTraining(part);
    });
    for (const std::string_view function : functions) NoteFunction(function);
    Body main{.id = ""};
    CheckGraph(graphs, nullptr, main, 1);
    calls_.Add(std::move(main));
    for (const std::string_view function : functions) CheckFunction(function);
    if (const std::string problem = calls_.Problem(maker_ == Maker::kUs); !problem.empty()) Refuse(problem);
    if (divides_) CheckDivisions(graphs, functions);
  }

 private:
  [[noreturn]] void Refuse(const std::string& problem) const {
    throw Error(ErrorCode::kBadModel, "'" + name_ + "' cannot be used: " + problem);
  }

  void CheckName(std::string_view name, const char* what) const {
    if (name.find('\0') != std::string_view::npos)
      Refuse("the name of " + std::string(what) + ", '" + std::string(name.substr(0, name.find('\0'))) +
             "', goes on behind a NUL character");
  }

  void CheckEntry(std::string_view entry) const {
    CheckName(TextPart(entry, kEntryKey), "an entry of its metadata");
  }

  void CheckTraining(std::string_view training) {
    Body ignored{.id = ""};
    ForEachPart(training, [&](uint32_t number, std::string_view part) {
      if (number == kTrainingInitialization || number == kTrainingAlgorithm)
        CheckGraph({part}, nullptr, ignored, 2);
    });
  }

  // Protobuf merges the parts of a message that is there more than once: `parts` are one graph.
  void CheckGraph(const std::vector<std::string_view>& parts, const GateScope* outer, Body& body, int depth) {
    if (depth > kDeepestNesting) throw DamagedModel();
    GateScope scope{.outer = outer, .trips = outer != nullptr ? outer->trips : 1};
    std::vector<GateNode> nodes;
    for (const std::string_view part : parts) {
      ForEachPart(part, [&](uint32_t number, std::string_view inner) {
        if (number == kGraphNode) nodes.push_back(ReadNode(inner));
        if (number == kGraphInitializer) CheckTensor(inner, depth);
        if (number == kGraphSparseInitializer) CheckSparse(inner, depth);
        if (number == kGraphInput || number == kGraphOutput)
          CheckName(TextPart(inner, kValueName), "an input or output");
        NoteTensor(number, inner, scope);
      });
    }
    for (const GateNode& node : nodes) NoteConstant(node, scope);
    if (outer != nullptr) HideOuter(nodes, scope);
    for (const GateNode& node : nodes) CheckNode(node, scope, body, depth + 1);
  }

  // What a nested graph computes under the name of a tensor around it.
  static void HideOuter(const std::vector<GateNode>& nodes, GateScope& scope) {
    for (const GateNode& node : nodes)
      for (const std::string_view output : node.outputs) scope.tensors.try_emplace(output);
  }

  static std::string IdOf(std::string_view function) {
    return FunctionCalls::Id(TextPart(function, kFunctionDomain), TextPart(function, kFunctionName),
                             TextPart(function, kFunctionOverload));
  }

  // A function must not stand for an operator that is checked by its name.
  void NoteFunction(std::string_view function) {
    const std::string_view domain = TextPart(function, kFunctionDomain);
    if (IsLibraryDomain(domain))
      Refuse("its function '" + std::string(TextPart(function, kFunctionName)) + "' is in the domain '" +
             std::string(domain) + "', which libraries have operators in; put it into another");
    functions_.insert(IdOf(function));
  }

  void CheckFunction(std::string_view function) {
    Body body{.id = IdOf(function)};
    GateScope scope;
    std::vector<GateNode> nodes;
    ForEachPart(function, [&](uint32_t number, std::string_view part) {
      if (number == kFunctionInput) body.inputs.push_back(part);
      if (number == kFunctionNode) nodes.push_back(ReadNode(part));
      if (number == kFunctionAttribute) body.defaults.push_back(ReadAttribute(part));
    });
    if (const std::string problem = AmbiguityProblem(body.defaults); !problem.empty())
      Refuse("the function '" + std::string(TextPart(function, kFunctionName)) + "' " + problem);
    for (const std::string_view input : body.inputs) scope.tensors[input] = {};
    for (const GateAttribute& attribute : body.defaults) CheckAttribute(attribute, scope, body, 2);
    for (const GateNode& node : nodes) NoteConstant(node, scope);
    for (const GateNode& node : nodes) CheckNode(node, scope, body, 2);
    calls_.Add(std::move(body));
  }

  void CheckDivisions(const std::vector<std::string_view>& graphs,
                      const std::vector<std::string_view>& functions) const {
    WholeDivision division;
    for (const std::string_view function : functions) division.AddFunction(IdOf(function), function);
    if (const std::string problem = division.Problem(graphs); !problem.empty()) Refuse(problem);
  }

  // A call of a function of the model, or an operator of ours.
  bool IsOwn(const GateNode& node) const {
    if (node.IsStandard()) return false;
    if (maker_ == Maker::kUs && node.domain == kOwnDomain) return true;
    return functions_.contains(FunctionCalls::Id(node.domain, node.op, node.overload));
  }

  void CheckNode(const GateNode& node, const GateScope& scope, Body& body, int depth) {
    if (const std::string problem = AmbiguityProblem(node.attributes); !problem.empty())
      Refuse(node.Describe() + " " + problem);
    if (!IsOwn(node))
      if (const std::string problem = NodeProblem(node, scope); !problem.empty())
        Refuse(node.Describe() + " " + problem);
    divides_ |= MayDivideBadly(node, scope);
    FunctionCalls::Note(node, !functions_.empty(), scope.trips, body);
    const GateScope within{.outer = &scope, .trips = TripsWithin(node, scope)};
    for (const GateAttribute& attribute : node.attributes)
      if (attribute.nested) CheckAttribute(attribute, within, body, depth + 1);
  }

  void CheckAttribute(const GateAttribute& attribute, const GateScope& scope, Body& body, int depth) {
    if (depth > kDeepestNesting) throw DamagedModel();
    std::vector<std::string_view> graph;
    int tensors = 0;
    ForEachPart(attribute.bytes, [&](uint32_t number, std::string_view part) {
      if (number == kAttributeTensor && ++tensors > 1)
        Refuse("the attribute '" + std::string(attribute.name) + "' holds its tensor in pieces");
      if (number == kAttributeTensor || number == kAttributeTensors) CheckTensor(part, depth);
      if (number == kAttributeSparseTensor || number == kAttributeSparseTensors) CheckSparse(part, depth);
      if (number == kAttributeGraph) graph.push_back(part);
      if (number == kAttributeGraphs) CheckGraph({part}, &scope, body, depth + 1);
    });
    if (!graph.empty()) CheckGraph(graph, &scope, body, depth + 1);
  }

  void CheckSparse(std::string_view sparse, int depth) const {
    ForEachPart(sparse, [&](uint32_t number, std::string_view part) {
      if (number == kSparseValues || number == kSparseIndices) CheckTensor(part, depth + 1);
    });
  }

  void CheckTensor(std::string_view tensor, int depth) const {
    if (depth >= kDeepestNesting) throw DamagedModel();
    const std::string_view name = TextPart(tensor, kTensorName);
    CheckName(name, "a tensor");
    ForEachPart(tensor, [&](uint32_t number, std::string_view part) {
      if (number == kTensorExternalData) CheckLocation(part, name);
    });
  }

  void CheckLocation(std::string_view entry, std::string_view tensor) const {
    if (TextPart(entry, kEntryKey) != "location") return;
    const std::string location(TextPart(entry, kEntryValue));
    const std::string problem = ExternalLocationProblem(folder_, location);
    if (!problem.empty())
      throw Error(ErrorCode::kBadModel, "'" + name_ + "' keeps tensor '" + std::string(tensor) + "' in '" +
                                            location + "' " + problem);
  }

  const std::string& name_;
  std::optional<std::string> folder_;
  const Maker maker_;
  std::set<std::string> functions_;
  bool divides_ = false;  // nodes that WholeDivision has to look at
  FunctionCalls calls_;
};

}  // namespace

bool AdmitModel(std::span<const std::byte> model, const std::string& path, const std::string& name,
                Maker maker) {
  try {
    Gate(path, name, maker).Check({reinterpret_cast<const char*>(model.data()), model.size()});
  } catch (const DamagedModel&) {
    return false;
  }
  return true;
}

}  // namespace ort_ed
