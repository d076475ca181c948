#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ort_ed {

using NamedScalar = std::pair<std::string, double>;

// Appends scalars to a TensorBoard event file, `folder`/events.out.tfevents.<time>.<host>.<process>.ort-ed.
// Every call reaches the operating system before it returns, so that a running TensorBoard follows. Throws
// kIo.
class EventFile {
 public:
  explicit EventFile(const std::string& folder);

  void Append(int64_t step, double time, std::span<const NamedScalar> scalars);
  const std::string& path() const { return path_; }

 private:
  void WriteRecord(const std::string& record);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

// Whether a file of that name is an event file of ours.
bool IsEventFile(std::string_view name);

// CRC-32C (Castagnoli), which the record framing of event files uses.
uint32_t Crc32c(std::string_view bytes);

}  // namespace ort_ed
