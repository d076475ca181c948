#include "tools/jobs/train/event_file.h"

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "ort_ed/error.h"

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

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Others write event files, too: the end tells ours.
constexpr std::string_view kStart = "events.out.tfevents.", kEnd = ".ort-ed";

std::string EventFileName() {
  char host[256] = "localhost";
  gethostname(host, sizeof(host) - 1);
  return fmt::format("{}{}.{}.{}{}", kStart, static_cast<int64_t>(Now()), host, getpid(), kEnd);
}

}  // namespace

bool IsEventFile(std::string_view name) { return name.starts_with(kStart) && name.ends_with(kEnd); }

uint32_t Crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrcTable();
  uint32_t crc = ~0u;
  for (const unsigned char byte : bytes) crc = kTable[(crc ^ byte) & 0xFF] ^ crc >> 8;
  return ~crc;
}

EventFile::EventFile(const std::string& folder) : path_(folder + "/" + EventFileName()) {
  file_.reset(std::fopen(path_.c_str(), "wbx"));
  if (!file_) throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  WriteRecord(Field(1, Now()) + Field(3, std::string_view("brain.Event:2")));
}

void EventFile::Append(int64_t step, double time, std::span<const NamedScalar> scalars) {
  std::string summary;
  for (const NamedScalar& scalar : scalars) summary += Field(1, std::string_view(SummaryValue(scalar)));
  WriteRecord(Field(1, time) + Field(2, step) + Field(5, std::string_view(summary)));
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
