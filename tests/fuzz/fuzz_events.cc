// TensorBoard files of an earlier part of a run: records whose checksums are put right, as long as their
// lengths say.
#include <cstdint>
#include <string>
#include <string_view>

#include "ort_ed/error.h"
#include "tests/fuzz/memory_file.h"
#include "tools/jobs/train/event_file.h"

namespace {

std::string Bytes(uint64_t number, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

std::string MaskedCrc(std::string_view bytes) {
  const uint32_t crc = ort_ed::Crc32c(bytes);
  return Bytes((crc >> 15 | crc << 17) + 0xA282EAD8u, 4);
}

// The first byte of a record is its length; 255 means that what follows is taken as it is.
std::string Framed(std::string_view rest) {
  std::string file;
  while (!rest.empty()) {
    const auto length = static_cast<unsigned char>(rest.front());
    if (length == 255) return file + std::string(rest.substr(1));
    const std::string_view record = rest.substr(1, length);
    const std::string size = Bytes(record.size(), 8);
    file += size + MaskedCrc(size) + std::string(record) + MaskedCrc(record);
    rest.remove_prefix(1 + record.size());
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text = Framed({reinterpret_cast<const char*>(bytes), size});
  const ort_ed::MemoryFile file(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  try {
    ort_ed::ReadPictures(file.path(), 100);
  } catch (const ort_ed::Error&) {
  }
  return 0;
}
