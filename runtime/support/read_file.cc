#include "runtime/support/read_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ort_ed/error.h"

namespace ort_ed {

std::vector<std::byte> ReadFile(const std::string& path, std::string_view what) {
  const auto refuse = [&](const char* why) {
    throw Error(ErrorCode::kIo, "cannot read the " + std::string(what) + " '" + path + "': " + why);
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) refuse("it is a folder; name a file");
  if (!std::filesystem::exists(path, error) && !error) refuse("no such file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse("it may not be read");
  constexpr size_t kChunk = 1 << 20;
  const auto size = std::filesystem::file_size(path, error);
  size_t next = error ? kChunk : size + 1;  // one more, to see the end; a pipe does not tell its size
  std::vector<std::byte> bytes;
  while (file) {
    const size_t have = bytes.size();
    bytes.resize(have + next);
    file.read(reinterpret_cast<char*>(bytes.data() + have), static_cast<std::streamsize>(next));
    bytes.resize(have + static_cast<size_t>(file.gcount()));
    next = std::max(kChunk, bytes.size());
  }
  if (file.bad()) refuse("reading failed");
  return bytes;
}

}  // namespace ort_ed
