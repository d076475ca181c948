#include "trainer/collective/shared_sampler.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "trainer/collective/shares.h"

namespace ort_ed {
namespace {

// Chains whose couplings are known are swept so many at once.
constexpr int64_t kOfKnownForm = 32;

int64_t ChainsOfUnit(const EnergyPath& target) {
  const int64_t rows = target.energy->rows_at_once();
  return rows == 0 || target.quadratic() != nullptr ? kOfKnownForm : rows;
}

// The chains of one process as bytes, and back.
class Writer {
 public:
  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void AddValues(const std::vector<double>& values) {
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  void AddBits(const std::vector<float>& bits) {
    for (const float bit : bits) bytes_.push_back(static_cast<char>(bit));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : position_(bytes.data()) {}

  template <typename T>
  T Take() {
    T value;
    std::memcpy(&value, position_, sizeof value);
    position_ += sizeof value;
    return value;
  }
  void TakeValues(std::span<double> values) {
    std::memcpy(values.data(), position_, values.size_bytes());
    position_ += values.size_bytes();
  }
  void TakeBits(std::span<float> bits) {
    for (float& bit : bits) bit = *position_++;
  }

 private:
  const char* position_;
};

std::string Pack(const Chains& part) {
  Writer writer;
  writer.Add(part.counters);
  writer.Add(static_cast<int64_t>(part.count == 0 ? 0 : std::ssize(part.replicas) / part.count));
  writer.AddBits(part.states);
  writer.AddValues(part.energies);
  writer.AddValues(part.base_energies);
  writer.AddBits(part.replicas);
  return writer.bytes();
}

void Unpack(const std::string& bytes, Share share, Chains& whole) {
  Reader reader(bytes);
  whole.counters += reader.Take<StepCounters>();
  const auto replicas = reader.Take<int64_t>();
  const int64_t width = whole.dimension;
  reader.TakeBits(std::span(whole.states).subspan(share.first * width, share.count * width));
  reader.TakeValues(std::span(whole.energies).subspan(share.first, share.count));
  reader.TakeValues(std::span(whole.base_energies).subspan(share.first, share.count));
  whole.replicas.resize(static_cast<size_t>(whole.count * replicas));
  reader.TakeBits(std::span(whole.replicas).subspan(share.first * replicas, share.count * replicas));
}

class SharedSampler final : public Sampler {
 public:
  SharedSampler(std::unique_ptr<Sampler> sampler, int64_t unit, Collective& processes)
      : sampler_(std::move(sampler)), unit_(unit), processes_(processes) {}

  void Step(Chains& chains, int64_t steps) override {
    Run(chains, steps, [steps](Sampler& sampler, Chains& part) { sampler.Step(part, steps); });
  }
  void StepReversed(Chains& chains, int64_t steps) override {
    Run(chains, steps, [steps](Sampler& sampler, Chains& part) { sampler.StepReversed(part, steps); });
  }

 private:
  template <typename Advance>
  void Run(Chains& chains, int64_t steps, const Advance& advance) {
    const uint64_t end = chains.step + static_cast<uint64_t>(steps);
    const Share own = ShareOf(processes_.rank(), processes_.size(), chains.count, unit_);
    Chains part;
    if (own.count > 0) {
      part = TakeChains(chains, own.first, own.count);
      advance(*sampler_, part);
      const StepCounters counted = std::exchange(part.counters, {});
      PutBackChains(chains, own.first, part);
      part.counters = counted;
    }
    const std::vector<std::string> all = processes_.Gather(own.count > 0 ? Pack(part) : "");
    for (int rank = 0; rank < processes_.size(); ++rank) {
      const Share share = ShareOf(rank, processes_.size(), chains.count, unit_);
      if (share.count > 0) Unpack(all[rank], share, chains);
    }
    chains.step = end;
  }

  std::unique_ptr<Sampler> sampler_;
  int64_t unit_;
  Collective& processes_;
};

}  // namespace

std::unique_ptr<Sampler> ShareChains(std::unique_ptr<Sampler> sampler, const EnergyPath& target,
                                     Collective& processes) {
  if (processes.size() == 1) return sampler;
  return std::make_unique<SharedSampler>(std::move(sampler), ChainsOfUnit(target), processes);
}

}  // namespace ort_ed
