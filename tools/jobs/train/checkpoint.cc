#include "tools/jobs/train/checkpoint.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/files/list_folder.h"
#include "runtime/support/files/read_file.h"

namespace ort_ed {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they stand in memory");

constexpr char kMagic[] = "ORT-ED checkpoint\n";  // the file is recognisable in a pager
constexpr size_t kMagicSize = sizeof(kMagic) - 1;
constexpr uint32_t kFormat = 2;
constexpr char kSuffix[] = ".ckpt";
constexpr char kPrefix[] = "step-";

uint32_t Crc(uint32_t crc, const void* bytes, size_t size) {
  if (size == 0) return crc;  // zlib takes a null pointer as the wish to start anew
  return static_cast<uint32_t>(crc32_z(crc, static_cast<const Bytef*>(bytes), size));
}

// Writes to the file and to the checksum.
class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}
  void Bytes(const void* bytes, size_t size) {
    file_.Write(bytes, size);
    crc_ = Crc(crc_, bytes, size);
  }
  template <typename T>
  void Number(T value) {
    Bytes(&value, sizeof(value));
  }
  void Finish() {
    file_.Write(&crc_, sizeof(crc_));
    file_.Commit();
  }

 private:
  AtomicFile file_;
  uint32_t crc_ = 0;
};

// Reads the `left` bytes of a checkpoint that are still to be read.
class Reader {
 public:
  Reader(std::istream& file, uint64_t left) : file_(file), left_(left) {}
  void Bytes(void* to, uint64_t size) {
    if (size > left_ || !file_.read(static_cast<char*>(to), static_cast<std::streamsize>(size)))
      throw std::runtime_error("it ends too early");
    left_ -= size;
  }
  template <typename T>
  T Number() {
    T value;
    Bytes(&value, sizeof(value));
    return value;
  }
  // A container of `size` elements; the size is checked before memory is taken.
  template <typename Container>
  Container Many(uint64_t size) {
    if (size > left_ / sizeof(typename Container::value_type)) throw std::runtime_error("it ends too early");
    Container values(size, {});
    Bytes(values.data(), size * sizeof(typename Container::value_type));
    return values;
  }
  uint64_t left() const { return left_; }

 private:
  std::istream& file_;
  uint64_t left_;
};

// Octets are small whole numbers, such as states; all else is float32.
bool IsOctets(const StateTensor& tensor) { return !tensor.octets.empty(); }

std::string MakeHeader(const Checkpoint& checkpoint) {
  nlohmann::ordered_json header = {{"step", checkpoint.step},
                                   {"configuration", checkpoint.configuration},
                                   {"data", checkpoint.data},
                                   {"running", checkpoint.running},
                                   {"watch", checkpoint.watch},
                                   {"model_bytes", checkpoint.model.size()},
                                   {"state", nlohmann::ordered_json::array()}};
  for (const StateTensor& tensor : checkpoint.state) {
    header["state"].push_back({{"owner", tensor.owner},
                               {"kind", tensor.kind},
                               {"parameter", tensor.parameter},
                               {"shape", tensor.shape},
                               {"type", IsOctets(tensor) ? "uint8" : "float32"},
                               {"size", tensor.ElementCount()}});
  }
  return header.dump();
}

void CheckShape(const std::vector<int64_t>& shape, uint64_t size) {
  uint64_t count = 1;
  for (const int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count))
      throw std::runtime_error("a tensor has an impossible shape");
  if (count != size) throw std::runtime_error("a tensor has another size than its shape");
}

// Format 1 kept a hash of the configuration, and one owner's floats.
StateTensor ParseTensor(const nlohmann::json& entry, uint32_t format, Reader& reader) {
  StateTensor tensor{.kind = entry.at("kind").get<std::string>(),
                     .parameter = entry.at("parameter").get<std::string>(),
                     .shape = entry.at("shape").get<std::vector<int64_t>>()};
  const auto size = entry.at("size").get<uint64_t>();
  CheckShape(tensor.shape, size);
  if (format > 1) tensor.owner = entry.at("owner").get<std::string>();
  if (format > 1 && entry.at("type") == "uint8") {
    tensor.octets = reader.Many<std::vector<uint8_t>>(size);
  } else {
    tensor.values = reader.Many<std::vector<float>>(size);
  }
  return tensor;
}

Checkpoint Parse(Reader reader) {
  const auto format = reader.Number<uint32_t>();
  if (format < 1 || format > kFormat)
    throw std::runtime_error(
        fmt::format("its format version is {}, this program reads 1 to {}; use the ort-ed that wrote it",
                    format, kFormat));
  const auto header = nlohmann::json::parse(reader.Many<std::string>(reader.Number<uint64_t>()));
  Checkpoint checkpoint;
  checkpoint.step = header.at("step").get<int64_t>();
  if (format > 1)
    checkpoint.configuration = header.at("configuration").get<std::map<std::string, std::string>>();
  if (format == 1) checkpoint.former_hash = header.at("configuration").get<std::string>();
  checkpoint.data = header.at("data").get<std::string>();
  checkpoint.running = header.at("running").get<std::map<std::string, double>>();
  checkpoint.watch = header.value("watch", checkpoint.watch);  // earlier versions wrote none
  checkpoint.model = reader.Many<std::string>(header.at("model_bytes").get<uint64_t>());
  for (const auto& entry : header.at("state")) checkpoint.state.push_back(ParseTensor(entry, format, reader));
  if (reader.left() != 0) throw std::runtime_error("bytes are left over");
  return checkpoint;
}

// CRC of the next `size` bytes; without loading them all, since a checkpoint may fill half the memory.
uint32_t ReadCrc(std::istream& file, uint64_t size) {
  std::vector<char> buffer(1 << 16);
  uint32_t crc = 0;
  while (size > 0) {
    const uint64_t part = std::min<uint64_t>(size, buffer.size());
    if (!file.read(buffer.data(), static_cast<std::streamsize>(part))) break;
    crc = Crc(crc, buffer.data(), part);
    size -= part;
  }
  return crc;
}

}  // namespace

std::vector<StateTensor> Checkpoint::SelectTensors(const std::string& owner) const {
  std::vector<StateTensor> tensors;
  for (const StateTensor& tensor : state)
    if (tensor.owner == owner || tensor.owner.starts_with(owner + "/")) tensors.push_back(tensor);
  return tensors;
}

void WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint, const StateValues& values) {
  Writer writer(path);
  writer.Bytes(kMagic, kMagicSize);
  writer.Number(kFormat);
  const std::string header = MakeHeader(checkpoint);
  writer.Number<uint64_t>(header.size());
  writer.Bytes(header.data(), header.size());
  writer.Bytes(checkpoint.model.data(), checkpoint.model.size());
  const auto write = [&](const auto& numbers) {
    writer.Bytes(numbers.data(), numbers.size() * sizeof(numbers[0]));
  };
  for (const StateTensor& tensor : checkpoint.state) {
    if (IsOctets(tensor)) {
      write(tensor.octets);
    } else {
      write(values && tensor.values.empty() ? values(tensor) : tensor.values);
    }
  }
  writer.Finish();
}

Checkpoint ReadCheckpoint(const std::string& path) {
  RequireRegularFile(path, "checkpoint");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw Error(ErrorCode::kIo, fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  const auto size = static_cast<uint64_t>(file.tellg());
  file.seekg(0);
  try {
    const std::string magic = Reader(file, size).Many<std::string>(kMagicSize);
    if (magic != kMagic) throw std::runtime_error("it does not start like one");
    uint32_t crc = 0;
    const uint64_t end = size - std::min<uint64_t>(size, sizeof(crc));
    file.seekg(0);
    const uint32_t found = ReadCrc(file, end);
    file.read(reinterpret_cast<char*>(&crc), sizeof(crc));
    if (crc != found) throw std::runtime_error("its checksum does not match, so it is truncated or damaged");
    file.seekg(kMagicSize);
    return Parse(Reader(file, end - kMagicSize));
  } catch (const std::bad_alloc&) {
    throw;  // low memory is no damage
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kBadData, fmt::format("'{}' is not a usable checkpoint: {}", path, error.what()));
  }
}

std::string CheckpointFolder::MakePath(int64_t step) const {
  return fmt::format("{}/{}{}{}", folder_, kPrefix, step, kSuffix);
}

std::vector<int64_t> CheckpointFolder::Steps() const {
  std::vector<int64_t> steps;
  if (!std::filesystem::is_directory(folder_)) return steps;
  for (const std::string& name : ListFolder(folder_)) {
    int64_t step = -1;
    std::from_chars(name.data() + std::min(name.size(), sizeof(kPrefix) - 1), name.data() + name.size(),
                    step);
    if (step >= 0 && folder_ + "/" + name == MakePath(step)) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

void CheckpointFolder::Write(const Checkpoint& checkpoint, int keep, const StateValues& values) const {
  std::filesystem::create_directories(folder_);
  WriteCheckpoint(MakePath(checkpoint.step), checkpoint, values);
  std::vector<int64_t> steps = Steps();
  // Newer than the one just written: left over from before the run was resumed at an older checkpoint.
  while (steps.back() > checkpoint.step) {
    std::filesystem::remove(MakePath(steps.back()));
    steps.pop_back();
  }
  for (size_t i = 0; i + static_cast<size_t>(keep) < steps.size(); ++i)
    std::filesystem::remove(MakePath(steps[i]));
}

Checkpoint CheckpointFolder::Read(int64_t step) const {
  const std::vector<int64_t> steps = Steps();
  if (std::find(steps.begin(), steps.end(), step) == steps.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' has no checkpoint of step {}; there are {}", folder_, step,
                            steps.empty() ? "none" : fmt::format("{}", fmt::join(steps, ", "))));
  }
  return ReadCheckpoint(MakePath(step));
}

std::optional<Checkpoint> CheckpointFolder::ReadNewest(Observer& observer) const {
  const std::vector<int64_t> steps = Steps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      return ReadCheckpoint(MakePath(*step));
    } catch (const Error& error) {
      observer.OnWarning(fmt::format("{}; trying the one before", error.what()));
    }
  }
  if (steps.empty()) return std::nullopt;
  throw Error(ErrorCode::kBadData,
              fmt::format("every checkpoint in '{}' is damaged; start the run anew", folder_));
}

}  // namespace ort_ed
