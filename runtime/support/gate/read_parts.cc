#include "runtime/support/gate/read_parts.h"

#include <cstring>

#include "runtime/support/gate/onnx_fields.h"

namespace ort_ed {
namespace {

using namespace onnx_field;

template <typename Visit>
void ForEachField(std::string_view message, const Visit& visit) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(field)) visit(field);
  if (reader.damaged()) throw DamagedModel();
}

std::optional<float> ReadFloat(const WireField& field) {
  if (field.type != kFourBytes) return std::nullopt;
  float number;
  std::memcpy(&number, field.payload.data(), sizeof(number));
  return number;
}

template <typename Number>
std::optional<int64_t> RawInteger(std::string_view raw) {
  Number value;
  std::memcpy(&value, raw.data(), sizeof(value));
  return value;
}

// Shape, and the value of a single whole number. A shape that cannot be is found by those who read the data.
GateTensor ReadTensor(std::string_view bytes) {
  std::vector<int64_t> shape, integers;
  std::string_view raw;
  int64_t type = 0;
  ForEachField(bytes, [&](const WireField& field) {
    if (field.number == kTensorType) type = static_cast<int64_t>(field.value);
    constexpr size_t kFew = 10;  // bytes of one number
    if (field.number == kTensorDims) AppendIntegers(field, shape);
    if (field.number == kTensorRawData) raw = field.payload;
    if (field.number != kTensorInt64Data && field.number != kTensorInt32Data) return;
    if (field.payload.size() <= kFew && integers.size() < 2) AppendIntegers(field, integers);
  });
  GateTensor tensor{.rank = std::ssize(shape), .elements = 1, .value = {}, .bytes = bytes};
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(*tensor.elements, extent, &*tensor.elements)) tensor.elements = INT64_MAX;
  if (tensor.elements != 1 || (type != kTypeInt32 && type != kTypeInt64)) return tensor;
  if (integers.size() == 1) tensor.value = integers[0];
  if (raw.size() == sizeof(int64_t)) tensor.value = RawInteger<int64_t>(raw);
  return tensor;
}

std::optional<int64_t> DeclaredRank(std::string_view value) {
  const std::string_view shape =
      TextPart(TextPart(TextPart(value, kValueType), kTypeTensor), kTensorTypeShape);
  if (shape.data() == nullptr) return std::nullopt;
  int64_t rank = 0;
  ForEachPart(shape, [&](uint32_t number, std::string_view) { rank += number == kShapeDimension; });
  return rank;
}

}  // namespace

void AppendIntegers(const WireField& field, std::vector<int64_t>& to) {
  if (field.type == kVarint) to.push_back(static_cast<int64_t>(field.value));
  if (field.type != kLengthDelimited) return;
  WireReader packed(field.payload);
  while (!packed.AtEnd() && !packed.damaged()) to.push_back(static_cast<int64_t>(packed.ReadVarint()));
  if (packed.damaged()) throw DamagedModel();
}

std::string_view TextPart(std::string_view message, uint32_t number) {
  std::string_view found;
  ForEachPart(message, [&](uint32_t each, std::string_view part) {
    if (each == number) found = part;
  });
  return found;
}

std::optional<std::vector<int64_t>> ReadIntegers(std::string_view tensor, size_t most) {
  constexpr size_t kLongestVarint = 10;
  std::vector<int64_t> integers;
  std::string_view raw;
  int64_t type = 0;
  bool unknown = tensor.empty();
  ForEachField(tensor, [&](const WireField& field) {
    if (field.number == kTensorType) type = static_cast<int64_t>(field.value);
    if (field.number == kTensorRawData) raw = field.payload;
    if (field.number == kTensorExternalData) unknown = true;
    if (field.number != kTensorInt64Data && field.number != kTensorInt32Data) return;
    unknown |= field.payload.size() > most * kLongestVarint || integers.size() > most;
    if (!unknown) AppendIntegers(field, integers);
  });
  const size_t width = type == kTypeInt64 ? sizeof(int64_t) : sizeof(int32_t);
  if (unknown || (type != kTypeInt64 && type != kTypeInt32) || raw.size() > most * width) return std::nullopt;
  for (; raw.size() >= width; raw.remove_prefix(width))
    integers.push_back(type == kTypeInt64 ? *RawInteger<int64_t>(raw) : *RawInteger<int32_t>(raw));
  return integers;
}

GateAttribute ReadAttribute(std::string_view bytes) {
  GateAttribute attribute;
  attribute.bytes = bytes;
  ForEachField(bytes, [&](const WireField& field) {
    switch (field.number) {
      case kAttributeName:
        attribute.name = field.payload;
        break;
      case kAttributeReference:
        attribute.reference = field.payload;
        break;
      case kAttributeInt:
      case kAttributeInts:
        AppendIntegers(field, attribute.integers);
        break;
      case kAttributeFloat:
        attribute.number = ReadFloat(field);
        break;
      case kAttributeTensor:
      case kAttributeTensors:
      case kAttributeGraph:
      case kAttributeGraphs:
      case kAttributeSparseTensor:
      case kAttributeSparseTensors:
        attribute.nested = true;
        break;
      default:
        break;
    }
  });
  return attribute;
}

GateNode ReadNode(std::string_view bytes) {
  GateNode node;
  ForEachPart(bytes, [&](uint32_t number, std::string_view part) {
    if (number == kNodeInput) node.inputs.push_back(part);
    if (number == kNodeOutput) node.outputs.push_back(part);
    if (number == kNodeName) node.name = part;
    if (number == kNodeOperator) node.op = part;
    if (number == kNodeDomain) node.domain = part;
    if (number == kNodeOverload) node.overload = part;
    if (number == kNodeAttribute) node.attributes.push_back(ReadAttribute(part));
  });
  return node;
}

void NoteTensor(uint32_t number, std::string_view bytes, GateScope& scope) {
  if (number == kGraphInitializer) scope.tensors[TextPart(bytes, kTensorName)] = ReadTensor(bytes);
  if (number != kGraphInput) return;
  const auto rank = DeclaredRank(bytes);
  scope.tensors.try_emplace(TextPart(bytes, kValueName),
                            GateTensor{.rank = rank, .elements = {}, .value = {}});
}

void NoteConstant(const GateNode& node, GateScope& scope) {
  if (node.op != "Constant" || !node.IsStandard() || node.outputs.empty()) return;
  const auto [known, is_new] = scope.tensors.try_emplace(node.outputs[0]);
  GateTensor& tensor = known->second;
  if (!is_new) {  // libraries differ in which of two they take
    tensor = {};
    return;
  }
  for (const GateAttribute& attribute : node.attributes) {
    if (attribute.name == "value") tensor = ReadTensor(TextPart(attribute.bytes, kAttributeTensor));
    if (attribute.name == "value_int" && attribute.integers.size() == 1)
      tensor = {.rank = 0, .elements = 1, .value = attribute.integers[0]};
    if (attribute.name == "value_ints")
      tensor = {.rank = 1, .elements = std::ssize(attribute.integers), .value = {}};
  }
}

const GateAttribute* GateNode::Find(std::string_view attribute) const {
  for (const GateAttribute& each : attributes)
    if (each.name == attribute) return &each;
  return nullptr;
}

std::string GateNode::Describe() const {
  std::string_view shown = name;
  for (const std::string_view output : outputs)
    if (shown.empty()) shown = output;
  return "node '" + std::string(shown) + "' (" + (IsStandard() ? "" : std::string(domain) + ".") +
         std::string(op) + ")";
}

GateTensor GateScope::Find(std::string_view name) const {
  for (const GateScope* scope = this; scope != nullptr; scope = scope->outer)
    if (const auto found = scope->tensors.find(name); found != scope->tensors.end()) return found->second;
  return {};
}

}  // namespace ort_ed
