#include "runtime/data/formats.h"

namespace ort_ed {
namespace {

constexpr size_t kMagicBytes = 4;
constexpr size_t kMaxAxes = 8;

CellType ReadType(const InputStream& stream, unsigned code) {
  switch (code) {
    case 0x08:
      return CellType::kUint8;
    case 0x09:
      return CellType::kInt8;
    case 0x0B:
      return CellType::kInt16;
    case 0x0C:
      return CellType::kInt32;
    case 0x0D:
      return CellType::kFloat;
    case 0x0E:
      return CellType::kDouble;
    default:
      stream.Fail("has an unknown IDX type code (" + std::to_string(code) + "); the file is damaged");
  }
}

}  // namespace

// Two zero bytes, a type code, the number of axes, the size of each axis, the values; all big-endian.
ArrayLayout ReadIdxHeader(InputStream& stream) {
  const auto byte = [](std::string_view text, size_t at) -> uint32_t {
    return static_cast<uint8_t>(text[at]);
  };
  std::string_view header = stream.Peek(kMagicBytes);
  ArrayLayout layout{.type = ReadType(stream, byte(header, 2)), .big_endian = true, .shape = {}};
  const size_t axes = byte(header, 3);
  if (axes == 0 || axes > kMaxAxes)
    stream.Fail("tells " + std::to_string(axes) + " axes in its IDX header; the file is damaged");
  const size_t header_bytes = kMagicBytes + 4 * axes;
  header = stream.Peek(header_bytes);
  if (header.size() < header_bytes)
    stream.Fail("is cut off within its IDX header; copy or download it again");
  for (size_t at = kMagicBytes; at < header_bytes; at += 4)
    layout.shape.push_back(byte(header, at) << 24 | byte(header, at + 1) << 16 | byte(header, at + 2) << 8 |
                           byte(header, at + 3));
  stream.Skip(header_bytes);
  return layout;
}

}  // namespace ort_ed
