#include "tools/jobs/train/event_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/support/encoding/wire.h"
#include "runtime/support/files/read_file.h"

namespace ort_ed {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they stand in memory");

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0);
    table[i] = value;
  }
  return table;
}

uint32_t MaskedCrc(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

constexpr size_t kFrame = sizeof(uint64_t) + sizeof(uint32_t);  // the length of a record and its check sum

template <typename T>
T Number(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

template <typename T>
std::string Bytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// The protobuf wire format, as far as Event and Summary (tensorboard/compat/proto) need it.
std::string Field(int number, double value) { return static_cast<char>(number << 3 | 1) + Bytes(value); }
std::string Field(int number, float value) { return static_cast<char>(number << 3 | 5) + Bytes(value); }
std::string Field(int number, int64_t value) {
  return static_cast<char>(number << 3) + Varint(static_cast<uint64_t>(value));
}
std::string Field(int number, std::string_view value) {
  return static_cast<char>(number << 3 | 2) + Varint(value.size()) + std::string(value);
}

std::string SummaryValue(const NamedScalar& scalar) {
  return Field(1, std::string_view(scalar.first)) + Field(2, static_cast<float>(scalar.second));
}

// Numbers of fields in Event, Summary and Summary.Value.
constexpr int kStep = 2, kSummary = 5, kValue = 1, kTag = 1, kImage = 4, kHistogram = 5, kTensor = 8,
              kMetadata = 9;

std::string PackedDoubles(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

// Bins of equal width, each with its upper bound.
std::string HistogramProto(std::span<const double> values) {
  constexpr size_t kBins = 30;
  const auto [low, high] = std::ranges::minmax(values);
  const double width = high > low ? (high - low) / kBins : 1;
  std::vector<double> limits, counts(kBins);
  for (size_t i = 1; i <= kBins; ++i) limits.push_back(low + width * static_cast<double>(i));
  limits.back() = std::max(limits.back(), high);
  double sum = 0, squares = 0;
  for (const double value : values) {
    ++counts[std::min(kBins - 1, static_cast<size_t>((value - low) / width))];
    sum += value;
    squares += value * value;
  }
  return Field(1, low) + Field(2, high) + Field(3, static_cast<double>(values.size())) + Field(4, sum) +
         Field(5, squares) + Field(6, std::string_view(PackedDoubles(limits))) +
         Field(7, std::string_view(PackedDoubles(counts)));
}

// A tensor with a single string.
std::string TextProto(std::string_view text) {
  constexpr int64_t kString = 7, kOne = 1;
  const std::string size = Field(1, kOne), shape = Field(2, std::string_view(size));
  return Field(1, kString) + Field(2, std::string_view(shape)) + Field(8, text);
}

// Which plugin of TensorBoard shows a tensor.
std::string PluginProto(std::string_view plugin) {
  const std::string data = Field(1, plugin);
  return Field(1, std::string_view(data));
}

// `fields`: further ones of the value.
std::string PictureEvent(int64_t step, double time, const std::string& name, int kind,
                         const std::string& content, const std::string& fields = "") {
  const std::string value =
      Field(kTag, std::string_view(name)) + Field(kind, std::string_view(content)) + fields;
  const std::string summary = Field(kValue, std::string_view(value));
  return Field(1, time) + Field(kStep, step) + Field(kSummary, std::string_view(summary));
}

bool HasPicture(std::string_view summary) {
  uint32_t number = 0;
  std::string_view value;
  for (WireReader values(summary); values.Next(number, value);) {
    WireField field;
    for (WireReader fields(value); fields.Next(field);)
      if (field.number == kImage || field.number == kHistogram || field.number == kTensor) return true;
  }
  return false;
}

// Whether an event is a picture of a step up to that one.
bool IsPicture(std::string_view event, int64_t last_step) {
  bool picture = false, early = true;
  WireField field;
  for (WireReader fields(event); fields.Next(field);) {
    if (field.number == kStep) early = static_cast<int64_t>(field.value) <= last_step;
    if (field.number == kSummary) picture = HasPicture(field.payload);
  }
  return picture && early;
}

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Others write event files, too: the end tells ours.
constexpr std::string_view kStart = "events.out.tfevents.", kEnd = ".ort-ed";

// Of a file that is not there yet.
std::string NewEventFile(const std::string& folder) {
  char host[256] = "localhost";
  gethostname(host, sizeof(host) - 1);
  for (auto seconds = static_cast<int64_t>(Now());; ++seconds) {
    const std::string path = fmt::format("{}/{}{}.{}.{}{}", folder, kStart, seconds, host, getpid(), kEnd);
    if (access(path.c_str(), F_OK) != 0) return path;
  }
}

}  // namespace

bool IsEventFile(std::string_view name) { return name.starts_with(kStart) && name.ends_with(kEnd); }

std::string DamagedName(std::string_view name) {
  return "damaged." + std::string(name.substr(kStart.size()));
}

uint32_t Crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrcTable();
  uint32_t crc = ~0u;
  for (const unsigned char byte : bytes) crc = kTable[(crc ^ byte) & 0xFF] ^ crc >> 8;
  return ~crc;
}

EventFile::EventFile(const std::string& folder) : path_(NewEventFile(folder)) {
  file_.reset(std::fopen(path_.c_str(), "wbx"));
  if (!file_) throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  WriteRecord(Field(1, Now()) + Field(3, std::string_view("brain.Event:2")));
}

void EventFile::Append(int64_t step, double time, std::span<const NamedScalar> scalars) {
  std::string summary;
  for (const NamedScalar& scalar : scalars) summary += Field(1, std::string_view(SummaryValue(scalar)));
  WriteRecord(Field(1, time) + Field(2, step) + Field(5, std::string_view(summary)));
}

void EventFile::AppendHistogram(int64_t step, double time, const std::string& name,
                                std::span<const double> values) {
  if (values.empty()) return;
  WriteRecord(PictureEvent(step, time, name, kHistogram, HistogramProto(values)));
}

void EventFile::AppendImage(int64_t step, double time, const std::string& name, int height, int width,
                            const std::string& png) {
  constexpr int64_t kGrey = 1;
  WriteRecord(PictureEvent(step, time, name, kImage,
                           Field(1, int64_t{height}) + Field(2, int64_t{width}) + Field(3, kGrey) +
                               Field(4, std::string_view(png))));
}

void EventFile::AppendText(int64_t step, double time, const std::string& name, const std::string& text) {
  const std::string plugin = PluginProto("text");
  WriteRecord(
      PictureEvent(step, time, name, kTensor, TextProto(text), Field(kMetadata, std::string_view(plugin))));
}

Pictures ReadPictures(const std::string& path, int64_t last_step) {
  const std::vector<std::byte> bytes = ReadRegularFile(path, "event file", SIZE_MAX - 1);
  Pictures pictures;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (rest.size() >= kFrame) {
    const auto length = Number<uint64_t>(rest);
    if (Number<uint32_t>(rest.substr(sizeof(length))) != MaskedCrc(rest.substr(0, sizeof(length)))) {
      pictures.damaged = true;  // where the next one begins cannot be told
      break;
    }
    if (length > rest.size() - kFrame || rest.size() - kFrame - length < sizeof(uint32_t)) break;
    const std::string_view record = rest.substr(kFrame, length);
    if (Number<uint32_t>(rest.substr(kFrame + length)) != MaskedCrc(record)) {
      pictures.damaged = true;
    } else if (IsPicture(record, last_step)) {
      pictures.records.emplace_back(record);
    }
    rest.remove_prefix(kFrame + length + sizeof(uint32_t));
  }
  return pictures;
}

void EventFile::WriteRecord(const std::string& record) {
  const std::string length = Bytes<uint64_t>(record.size());
  const std::string framed = length + Bytes(MaskedCrc(length)) + record + Bytes(MaskedCrc(record));
  if (std::fwrite(framed.data(), 1, framed.size(), file_.get()) != framed.size() ||
      std::fflush(file_.get()) != 0) {
    throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  }
}

}  // namespace ort_ed
