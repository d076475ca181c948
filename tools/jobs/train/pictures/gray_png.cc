#include "tools/jobs/train/pictures/gray_png.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <zlib.h>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr uint8_t kDark = 0, kLight = 255, kLine = 160;

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

std::string Chunk(const std::string& type, const std::string& content) {
  const std::string checked = type + content;
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return BigEndian(static_cast<uint32_t>(content.size())) + checked + BigEndian(static_cast<uint32_t>(sum));
}

std::string Deflate(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
               static_cast<uLong>(bytes.size())) != Z_OK)
    throw Error(ErrorCode::kRuntime, "a picture could not be compressed");
  packed.resize(size);
  return packed;
}

// 8 bits a pixel; each line of `pixels` begins with the number of its filter, 0.
std::string EncodePng(const std::string& pixels, int height, int width) {
  const std::string header = BigEndian(static_cast<uint32_t>(width)) +
                             BigEndian(static_cast<uint32_t>(height)) + std::string("\x08\0\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + Chunk("IHDR", header) + Chunk("IDAT", Deflate(pixels)) + Chunk("IEND", "");
}

}  // namespace

GrayPicture DrawGrid(std::span<const uint8_t> rows, int height, int width) {
  const auto size = static_cast<size_t>(height) * static_cast<size_t>(width);
  const auto count = static_cast<int>(rows.size() / size);
  const int columns = std::max(1, static_cast<int>(std::ceil(std::sqrt(count))));
  const int lines = (count + columns - 1) / columns;
  GrayPicture picture{.height = lines * (height + 1) + 1, .width = columns * (width + 1) + 1, .png = {}};
  const auto stride = static_cast<size_t>(picture.width) + 1;
  std::string pixels(static_cast<size_t>(picture.height) * stride, static_cast<char>(kLine));
  for (size_t y = 0; y < static_cast<size_t>(picture.height); ++y) pixels[y * stride] = 0;
  for (int i = 0; i < count; ++i) {
    const auto top = static_cast<size_t>(i / columns * (height + 1) + 1);
    const auto left = static_cast<size_t>(i % columns * (width + 1) + 2);  // behind the filter and the line
    for (size_t p = 0; p < size; ++p) {
      const size_t y = top + p / static_cast<size_t>(width), x = left + p % static_cast<size_t>(width);
      pixels[y * stride + x] =
          static_cast<char>(rows[static_cast<size_t>(i) * size + p] != 0 ? kDark : kLight);
    }
  }
  picture.png = EncodePng(pixels, picture.height, picture.width);
  return picture;
}

}  // namespace ort_ed
