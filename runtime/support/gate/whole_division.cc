#include "runtime/support/gate/whole_division.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "runtime/support/gate/function_calls.h"
#include "runtime/support/gate/onnx_fields.h"
#include "runtime/support/gate/read_parts.h"

namespace ort_ed {
namespace {

using namespace onnx_field;

struct Way {
  std::string_view op;
  Makes makes;
};

constexpr Way kWays[] = {
    {"ArgMax", Makes::kWhole},
    {"ArgMin", Makes::kWhole},
    {"Cast", Makes::kCast},
    {"CastLike", Makes::kLikeSecond},
    {"Concat", Makes::kJoined},
    {"Constant", Makes::kConstant},
    {"ConstantOfShape", Makes::kConstantOfShape},
    {"DequantizeLinear", Makes::kReal},
    {"DynamicQuantizeLinear", Makes::kWhole},
    {"Expand", Makes::kPicked},
    {"Flatten", Makes::kPicked},
    {"Gather", Makes::kPicked},
    {"GatherElements", Makes::kPicked},
    {"GatherND", Makes::kPicked},
    {"Identity", Makes::kPicked},
    {"MaxPool", Makes::kPlaces},
    {"Multinomial", Makes::kWhole},
    {"NonMaxSuppression", Makes::kWhole},
    {"NonZero", Makes::kWhole},
    {"OneHot", Makes::kThird},
    {"QuantizeLinear", Makes::kWhole},
    {"RandomNormal", Makes::kReal},
    {"RandomNormalLike", Makes::kReal},
    {"RandomUniform", Makes::kReal},
    {"RandomUniformLike", Makes::kReal},
    {"Reshape", Makes::kPicked},
    {"SequenceLength", Makes::kWhole},
    {"SequenceMap", Makes::kWhole},
    {"Shape", Makes::kExtents},
    {"Size", Makes::kExtents},
    {"Slice", Makes::kPicked},
    {"Split", Makes::kPicked},
    {"Squeeze", Makes::kPicked},
    {"StringSplit", Makes::kWhole},
    {"TfIdfVectorizer", Makes::kReal},
    {"Tile", Makes::kPicked},
    {"TopK", Makes::kPlaces},
    {"Transpose", Makes::kPicked},
    {"Unique", Makes::kPlaces},
    {"Unsqueeze", Makes::kPicked},
    {"Where", Makes::kChoice},
};
static_assert(std::ranges::is_sorted(kWays, {}, &Way::op));

Makes WayOf(std::string_view op) {
  const Way* found = std::ranges::lower_bound(kWays, op, {}, &Way::op);
  return found != std::end(kWays) && found->op == op ? found->makes : Makes::kLikeFirst;
}

// Say the type of what comes out.
constexpr std::string_view kTypes[] = {"dtype", "output_datatype", "output_dtype", "to"};

bool IsReal(int64_t type) {
  return type == kTypeFloat || (type >= kTypeString && type <= kTypeDouble) ||
         (type >= kTypeComplex64 && type <= kTypeLastFloat8);
}

Numbers OfType(int64_t type) { return IsReal(type) ? Numbers::kReal : Numbers::kAny; }

Numbers Joined(Numbers a, Numbers b) {
  if (a == Numbers::kReal || b == Numbers::kReal) return Numbers::kReal;
  return a == Numbers::kDivisors && b == Numbers::kDivisors ? a : Numbers::kAny;
}

Numbers IfReal(Numbers numbers) { return numbers == Numbers::kReal ? numbers : Numbers::kAny; }

bool IsDivisor(int64_t value) { return value != 0 && value != -1; }

template <typename Number>
bool AllDivisors(std::string_view raw) {
  for (size_t at = 0; at + sizeof(Number) <= raw.size(); at += sizeof(Number)) {
    Number value;
    std::memcpy(&value, raw.data() + at, sizeof(value));
    if (!IsDivisor(static_cast<int64_t>(value))) return false;
  }
  return raw.size() % sizeof(Number) == 0;
}

bool AllDivisors(int64_t type, std::string_view raw) {
  if (type == kTypeInt8) return AllDivisors<int8_t>(raw);
  if (type == kTypeInt16) return AllDivisors<int16_t>(raw);
  if (type == kTypeInt32) return AllDivisors<int32_t>(raw);
  if (type == kTypeInt64 || type == kTypeUint64) return AllDivisors<int64_t>(raw);
  if (type == kTypeUint8) return AllDivisors<uint8_t>(raw);
  if (type == kTypeUint16) return AllDivisors<uint16_t>(raw);
  return type == kTypeUint32 && AllDivisors<uint32_t>(raw);
}

// Of a value that is declared: kReal only if it is an array of that type.
Numbers DeclaredNumbers(std::string_view value) {
  int64_t type = 0;
  WireReader tensor(TextPart(TextPart(value, kValueType), kTypeTensor));
  for (WireField field; tensor.Next(field);)
    if (field.number == kTensorTypeElement && field.type == kVarint) type = static_cast<int64_t>(field.value);
  return OfType(type);
}

Numbers ConstantNumbers(const GateNode& node) {
  for (const GateAttribute& attribute : node.attributes) {
    if (attribute.name == "value" && attribute.reference.empty() && attribute.nested)
      return NumbersOf(TextPart(attribute.bytes, kAttributeTensor));
    if (attribute.name.starts_with("value_float") || attribute.name.starts_with("value_string"))
      return Numbers::kReal;
    if (attribute.name.starts_with("value_int") && attribute.reference.empty())
      return std::ranges::all_of(attribute.integers, IsDivisor) ? Numbers::kDivisors : Numbers::kAny;
  }
  return Numbers::kAny;
}

bool IsDivision(const GateNode& node) {
  return node.IsStandard() && (node.op == "Div" || node.op == "Mod") && node.inputs.size() > 1;
}

// Of two of one name, which libraries refuse, neither is known.
void Note(std::string_view name, Numbers numbers, std::unordered_map<std::string_view, Numbers>& values) {
  const auto [known, is_new] = values.try_emplace(name, numbers);
  if (!is_new && known->second != numbers) known->second = Numbers::kAny;
}

// What an If, Loop or Scan makes of what its graphs make.
std::vector<Numbers> ResultsOfGraphs(const GateNode& node, const std::vector<std::vector<Numbers>>& graphs) {
  std::vector<Numbers> results = graphs[0];
  for (const auto& other : graphs)
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = i < other.size() ? Joined(results[i], other[i]) : Numbers::kAny;
  if (node.op == "Loop" && !results.empty()) results.erase(results.begin());  // whether it goes on
  for (Numbers& numbers : results) numbers = IfReal(numbers);
  return results;
}

struct BadDivision {
  std::string node;
};

}  // namespace

struct WholeDivision::Frame {
  const Frame* outer = nullptr;
  // Of a function: what it was called by.
  const GateNode* call = nullptr;
  const Body* function = nullptr;
  std::unordered_map<std::string_view, Numbers> values = {};

  Numbers Find(std::string_view name) const {
    for (const Frame* frame = this; frame != nullptr; frame = frame->outer)
      if (const auto found = frame->values.find(name); found != frame->values.end()) return found->second;
    return Numbers::kAny;
  }

  Numbers Input(const GateNode& node, size_t index) const {
    return index < node.inputs.size() ? Find(node.inputs[index]) : Numbers::kAny;
  }

  // An attribute of a node, or of the call that it refers to.
  const GateAttribute* Attribute(const GateNode& node, std::string_view name) const {
    const GateAttribute* found = node.Find(name);
    if (found == nullptr || found->reference.empty()) return found;
    const Frame* frame = this;
    while (frame->call == nullptr && frame->outer != nullptr) frame = frame->outer;
    if (frame->call == nullptr) return found;
    if (const GateAttribute* given = frame->call->Find(found->reference)) return given;
    for (const GateAttribute& otherwise : frame->function->defaults)
      if (otherwise.name == found->reference) return &otherwise;
    return found;
  }

  std::optional<int64_t> TypeAttribute(const GateNode& node) const {
    if (node.attributes.empty()) return std::nullopt;
    for (const std::string_view name : kTypes)
      if (const GateAttribute* found = Attribute(node, name))
        return found->integers.size() == 1 ? found->integers[0] : 0;
    return std::nullopt;
  }
};

Numbers NumbersOf(std::string_view tensor) {
  int64_t type = 0;
  std::string_view raw;
  std::vector<int64_t> listed;
  bool elsewhere = false;
  WireReader reader(tensor);
  for (WireField field; reader.Next(field);) {
    if (field.number == kTensorType && field.type == kVarint) type = static_cast<int64_t>(field.value);
    if (field.number == kTensorRawData) raw = field.payload;
    if (field.number == kTensorExternalData) elsewhere = true;
  }
  if (IsReal(type)) return Numbers::kReal;
  if (elsewhere || !AllDivisors(type, raw)) return Numbers::kAny;
  WireReader again(tensor);
  for (WireField field; again.Next(field);)
    if (field.number == kTensorInt32Data || field.number == kTensorInt64Data ||
        field.number == kTensorUint64Data)
      AppendIntegers(field, listed);
  return std::ranges::all_of(listed, IsDivisor) ? Numbers::kDivisors : Numbers::kAny;
}

bool MayDivideBadly(const GateNode& node, const GateScope& scope) {
  if (!IsDivision(node)) return false;
  const std::string_view tensor = scope.Find(node.inputs[1]).bytes;
  return tensor.empty() || NumbersOf(tensor) == Numbers::kAny;
}

void WholeDivision::AddNode(std::string_view bytes, Body& body) {
  Node& added = body.nodes.emplace_back(Node{.node = ReadNode(bytes)});
  if (added.node.IsStandard() && added.node.op == "Constant") added.constant = ConstantNumbers(added.node);
  for (const GateAttribute& attribute : added.node.attributes) {
    if (!attribute.nested) continue;
    std::vector<std::string_view> graph;
    ForEachPart(attribute.bytes, [&](uint32_t number, std::string_view part) {
      if (number == kAttributeGraph) graph.push_back(part);
      if (number == kAttributeTensor && added.node.op == "ConstantOfShape") added.constant = NumbersOf(part);
    });
    if (!graph.empty()) added.graphs.push_back(ReadGraph(graph));
  }
}

WholeDivision::Body WholeDivision::ReadGraph(const std::vector<std::string_view>& parts) {
  Body body;
  for (const std::string_view part : parts) {
    ForEachPart(part, [&](uint32_t number, std::string_view inner) {
      if (number == kGraphNode) AddNode(inner, body);
      if (number == kGraphOutput) body.outputs.push_back(TextPart(inner, kValueName));
      if (number == kGraphInitializer) body.known[TextPart(inner, kTensorName)] = NumbersOf(inner);
      if (number == kGraphInput) body.known.try_emplace(TextPart(inner, kValueName), DeclaredNumbers(inner));
    });
  }
  return body;
}

void WholeDivision::AddFunction(const std::string& id, std::string_view function) {
  Body& body = functions_[id];
  ForEachPart(function, [&](uint32_t number, std::string_view part) {
    if (number == kFunctionInput) body.inputs.push_back(part);
    if (number == kFunctionOutput) body.outputs.push_back(part);
    if (number == kFunctionNode) AddNode(part, body);
    if (number == kFunctionAttribute) body.defaults.push_back(ReadAttribute(part));
  });
}

std::vector<Numbers> WholeDivision::OutputsOf(const Body& body, const Frame& frame) {
  std::vector<Numbers> results;
  for (const std::string_view output : body.outputs) results.push_back(frame.Find(output));
  return results;
}

void WholeDivision::Walk(const Body& body, Frame& frame) const {
  for (const Node& node : body.nodes) {
    if (IsDivision(node.node) && frame.Input(node.node, 0) != Numbers::kReal &&
        frame.Input(node.node, 1) == Numbers::kAny)
      throw BadDivision{node.node.Describe()};
    const std::vector<Numbers> results = Results(node, frame);
    for (size_t i = 0; i < node.node.outputs.size(); ++i)
      Note(node.node.outputs[i], i < results.size() ? results[i] : Numbers::kAny, frame.values);
  }
}

std::vector<Numbers> WholeDivision::CallResults(const Body& function, const GateNode& call,
                                                const Frame& frame) const {
  Frame inner{.call = &call, .function = &function};
  for (size_t i = 0; i < function.inputs.size(); ++i) inner.values[function.inputs[i]] = frame.Input(call, i);
  Walk(function, inner);
  return OutputsOf(function, inner);
}

std::vector<std::vector<Numbers>> WholeDivision::GraphResults(const Node& node, const Frame& frame) const {
  std::vector<std::vector<Numbers>> results;
  for (const Body& graph : node.graphs) {
    Frame inner{.outer = &frame, .values = graph.known};
    Walk(graph, inner);
    results.push_back(OutputsOf(graph, inner));
  }
  return results;
}

std::vector<Numbers> WholeDivision::Results(const Node& node, const Frame& frame) const {
  const GateNode& of = node.node;
  const auto graphs = GraphResults(node, frame);
  if (!of.IsStandard())
    if (const auto called = functions_.find(FunctionCalls::Id(of.domain, of.op, of.overload));
        called != functions_.end())
      return CallResults(called->second, of, frame);
  if (!graphs.empty() && of.op != "SequenceMap") return ResultsOfGraphs(of, graphs);
  const Makes makes = WayOf(of.op);
  std::vector<Numbers> results(of.outputs.size(), Made(makes, node, frame));
  if (makes == Makes::kPlaces && !results.empty())
    std::fill(results.begin() + 1, results.end(), Numbers::kAny);
  return results;
}

Numbers WholeDivision::Made(Makes makes, const Node& node, const Frame& frame) {
  const GateNode& of = node.node;
  const Numbers first = frame.Input(of, 0);
  if (makes == Makes::kCast) {
    const auto type = frame.TypeAttribute(of);
    if (type == kTypeInt64 && first == Numbers::kDivisors) return first;  // every one becomes itself
    return OfType(type.value_or(0));
  }
  if (const auto type = frame.TypeAttribute(of)) return OfType(*type);
  switch (makes) {
    case Makes::kPicked:
      return first;
    case Makes::kJoined: {
      Numbers all = first;
      for (size_t i = 1; i < of.inputs.size(); ++i) all = Joined(all, frame.Input(of, i));
      return all;
    }
    case Makes::kReal:
      return Numbers::kReal;
    case Makes::kWhole:
      return Numbers::kAny;
    case Makes::kConstant:
      return node.constant;
    case Makes::kConstantOfShape:
      return of.Find("value") == nullptr ? Numbers::kReal : node.constant;
    case Makes::kExtents:
      return Numbers::kDivisors;
    case Makes::kLikeSecond:
      return IfReal(frame.Input(of, 1));
    case Makes::kChoice:
      return Joined(frame.Input(of, 1), frame.Input(of, 2));
    case Makes::kThird:
      return frame.Input(of, 2);
    default:
      return IfReal(first);
  }
}

std::string WholeDivision::Problem(const std::vector<std::string_view>& graph) const {
  try {
    const Body body = ReadGraph(graph);
    Frame frame{.values = body.known};
    Walk(body, frame);
  } catch (const BadDivision& bad) {
    return bad.node +
           " divides whole numbers by what may be 0 or -1; divide by a constant that is neither, or by an "
           "extent of a shape";
  }
  return "";
}

}  // namespace ort_ed
