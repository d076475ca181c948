#include <cstring>

#include <png.h>

#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "tools/picture/canvas.h"

namespace ort_ed {
namespace {

static_assert(sizeof(Color) == 3);

[[noreturn]] void Throw(const png_image& image, ErrorCode code) {
  throw Error(code, std::string("cannot code the picture as PNG: ") + image.message);
}

}  // namespace

std::string Canvas::Png() const {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width_);
  image.height = static_cast<png_uint_32>(height_);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string png(size, '\0');
  if (!png_image_write_to_memory(&image, png.data(), &size, 0, pixels_.data(), 0, nullptr))
    Throw(image, ErrorCode::kRuntime);
  png.resize(size);
  return png;
}

void Canvas::Save(const std::string& path) const { WriteFileAtomically(path, Png()); }

Canvas DecodePng(std::string_view png) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, png.data(), png.size())) Throw(image, ErrorCode::kBadData);
  image.format = PNG_FORMAT_RGB;
  Canvas canvas(static_cast<int>(image.width), static_cast<int>(image.height));
  if (!png_image_finish_read(&image, nullptr, const_cast<Color*>(canvas.pixels().data()), 0, nullptr))
    Throw(image, ErrorCode::kBadData);
  return canvas;
}

}  // namespace ort_ed
