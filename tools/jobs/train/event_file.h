#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ort_ed {

using NamedScalar = std::pair<std::string, double>;

// Appends scalars, histograms, pictures and texts to a TensorBoard event file,
// `folder`/events.out.tfevents.<time>.<host>.<process>.ort-ed. Every call reaches the operating system before
// it returns, so that a running TensorBoard follows. Throws kIo.
class EventFile {
 public:
  explicit EventFile(const std::string& folder);

  void Append(int64_t step, double time, std::span<const NamedScalar> scalars);
  void AppendHistogram(int64_t step, double time, const std::string& name, std::span<const double> values);
  // `png`: the bytes of a file in grey.
  void AppendImage(int64_t step, double time, const std::string& name, int height, int width,
                   const std::string& png);
  // Markdown.
  void AppendText(int64_t step, double time, const std::string& name, const std::string& text);
  // A record of ReadPictures().
  void AppendRecord(const std::string& record) { WriteRecord(record); }
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

// What an event file of ours is called where some of it could not be read. TensorBoard takes it for none.
std::string DamagedName(std::string_view name);

struct Pictures {
  std::vector<std::string> records;
  bool damaged = false;  // some could not be read, more than a last one that was cut short
};

// The records of histograms, pictures and texts in an event file of ours, of steps up to `last_step`. Throws
// kIo where it cannot be read.
Pictures ReadPictures(const std::string& path, int64_t last_step);

// CRC-32C (Castagnoli), which the record framing of event files uses.
uint32_t Crc32c(std::string_view bytes);

}  // namespace ort_ed
