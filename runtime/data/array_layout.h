#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace ort_ed {

enum class CellType {
  kBool,
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kUint64,
  kInt64,
  kFloat,
  kDouble
};

// What the header of a binary array file tells of the values behind it.
struct ArrayLayout {
  CellType type = CellType::kUint8;
  bool big_endian = false;
  std::vector<int64_t> shape;  // not negative
};

// Calls visit(T{}) with the C++ type of `type`; bool is a byte.
template <typename Visit>
auto VisitCellType(CellType type, Visit visit) {
  switch (type) {
    case CellType::kBool:
    case CellType::kUint8:
      return visit(uint8_t{});
    case CellType::kInt8:
      return visit(int8_t{});
    case CellType::kUint16:
      return visit(uint16_t{});
    case CellType::kInt16:
      return visit(int16_t{});
    case CellType::kUint32:
      return visit(uint32_t{});
    case CellType::kInt32:
      return visit(int32_t{});
    case CellType::kUint64:
      return visit(uint64_t{});
    case CellType::kInt64:
      return visit(int64_t{});
    case CellType::kFloat:
      return visit(float{});
    case CellType::kDouble:
      return visit(double{});
  }
  throw std::logic_error("unknown cell type");
}

inline int64_t CellBytes(CellType type) {
  return VisitCellType(type, [](auto cell) { return static_cast<int64_t>(sizeof(cell)); });
}

// Reverses the bytes of each value.
template <typename T>
void ReverseBytes(T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    auto* bytes = reinterpret_cast<unsigned char*>(values + i);
    std::reverse(bytes, bytes + sizeof(T));
  }
}

}  // namespace ort_ed
