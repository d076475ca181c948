#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/support/encoding/wire.h"
#include "runtime/support/gate/parts.h"

namespace ort_ed {

// Calls visit(number, bytes) for the length-delimited fields of a message. Throws DamagedModel.
template <typename Visit>
void ForEachPart(std::string_view message, const Visit& visit) {
  WireReader reader(message);
  uint32_t number;
  std::string_view part;
  while (reader.Next(number, part)) visit(number, part);
  if (reader.damaged()) throw DamagedModel();
}

// The last field of that number, as protobuf takes it; empty if there is none.
std::string_view TextPart(std::string_view message, uint32_t number);

// Repeated integers come packed into one field or in a field each. Throws DamagedModel.
void AppendIntegers(const WireField& field, std::vector<int64_t>& to);

GateAttribute ReadAttribute(std::string_view bytes);
GateNode ReadNode(std::string_view bytes);

// The whole numbers of a serialised tensor of int32 or int64, at most `most`; nothing where that is not
// known.
std::optional<std::vector<int64_t>> ReadIntegers(std::string_view tensor, size_t most);

// Adds what a field of a graph tells of a tensor: an initialiser or an input.
void NoteTensor(uint32_t number, std::string_view bytes, GateScope& scope);
// Adds the tensor of a Constant node.
void NoteConstant(const GateNode& node, GateScope& scope);

}  // namespace ort_ed
