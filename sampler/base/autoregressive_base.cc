#include <algorithm>
#include <cmath>
#include <string>

#include "ort_ed/base_distribution.h"
#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "runtime/support/parallel_for.h"
#include "sampler/base/autoregressive_network.h"
#include "sampler/kinds/heat_bath.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDrawPurpose = 0x41524457;  // "ARDW"

// -log of the probability of a bit whose log odds are given; linear between the bits.
double Surprise(double log_odds, double bit) {
  return std::max(log_odds, 0.0) + std::log1p(std::exp(-std::abs(log_odds))) - bit * log_odds;
}

}  // namespace

struct AutoregressiveBase::Impl {
  Impl(const AutoregressiveTensors& tensors, int thread_count) : network(tensors), threads(thread_count) {}

  size_t width() const { return static_cast<size_t>(network.dimension()); }

  void CheckRows(size_t values, size_t rows) const {
    if (values != rows * width())
      throw Error(ErrorCode::kInvalidArgument, std::to_string(values) + " values are not " +
                                                   std::to_string(rows) + " rows of " +
                                                   std::to_string(width()));
  }

  // Calls work(first row, rows) for the rows of each block, on several threads where that is worth it.
  template <typename Work>
  void ForEachBlock(size_t rows, const Work& work) const {
    const size_t blocks = (rows + kLanes - 1) / kLanes;
    const double nanoseconds = static_cast<double>(blocks) * static_cast<double>(width() * width());
    ParallelFor(threads, static_cast<int64_t>(blocks), nanoseconds, [&](int64_t block) {
      const size_t first = static_cast<size_t>(block) * kLanes;
      work(first, std::min<size_t>(kLanes, rows - first));
    });
  }

  template <typename Rows>
  AutoregressiveNetwork::Block LoadBlock(const Rows& rows, size_t first, size_t count) const {
    AutoregressiveNetwork::Block block(network);
    for (size_t r = 0; r < count; ++r)
      network.Load(rows.subspan((first + r) * width(), width()), static_cast<int64_t>(r), block);
    return block;
  }

  void Evaluate(std::span<const float> rows, std::span<double> energies, std::span<float> gradients) const {
    CheckRows(rows.size(), energies.size());
    ForEachBlock(energies.size(), [&](size_t first, size_t count) {
      AutoregressiveNetwork::Block block = LoadBlock(rows, first, count);
      std::fill_n(energies.begin() + static_cast<std::ptrdiff_t>(first), count, 0.0);
      for (int64_t position = 0; position < network.dimension(); ++position) {
        network.FinishUnits(position, block);
        network.ComputeLogOdds(position, block);
        for (size_t r = 0; r < count; ++r)
          energies[first + r] += Surprise(block.log_odds[position].lane[r], block.x[position].lane[r]);
      }
      if (gradients.empty()) return;
      // The last units see all but the last variable, so none is missing.
      block.x = network.Gradient(block);
      for (size_t r = 0; r < count; ++r)
        network.Store(block, static_cast<int64_t>(r), gradients.subspan((first + r) * width(), width()));
    });
  }

  void Refill(const Streams& streams, std::span<const int64_t> starts, std::span<float> rows) const {
    CheckRows(rows.size(), starts.size());
    ForEachBlock(starts.size(), [&](size_t first, size_t count) {
      AutoregressiveNetwork::Block block = LoadBlock(rows, first, count);
      std::vector<RandomStream> random;
      for (size_t r = 0; r < count; ++r)
        random.emplace_back(streams.seed, streams.purpose, streams.step, streams.first_row + first + r);
      const std::span own = starts.subspan(first, count);
      const int64_t earliest = std::ranges::min(own);
      for (int64_t position = 0; position < network.dimension(); ++position) {
        network.FinishUnits(position, block);
        if (position < earliest) continue;
        network.ComputeLogOdds(position, block);
        for (size_t r = 0; r < count; ++r) {
          if (position < own[r]) continue;
          const bool bit = HeatBath(block.log_odds[position].lane[r], random[r].Next32());
          block.x[position].lane[r] = bit ? 1.0f : 0.0f;
        }
      }
      for (size_t r = 0; r < count; ++r)
        network.Store(block, static_cast<int64_t>(r), rows.subspan((first + r) * width(), width()));
    });
  }

  AutoregressiveNetwork network;
  int threads;
};

AutoregressiveBase::AutoregressiveBase(const AutoregressiveTensors& tensors, int threads)
    : impl_(std::make_unique<Impl>(tensors, threads)) {}
AutoregressiveBase::~AutoregressiveBase() = default;

int64_t AutoregressiveBase::dimension() const { return impl_->network.dimension(); }
std::span<const int32_t> AutoregressiveBase::order() const { return impl_->network.order(); }

void AutoregressiveBase::Energy(std::span<const float> rows, std::span<double> energies) const {
  impl_->Evaluate(rows, energies, {});
}

void AutoregressiveBase::EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                                           std::span<float> gradients) const {
  impl_->CheckRows(gradients.size(), energies.size());
  impl_->Evaluate(rows, energies, gradients);
}

void AutoregressiveBase::Draw(uint64_t seed, uint64_t first_row, std::span<float> rows) const {
  const std::vector<int64_t> starts(rows.size() / impl_->width());
  Refill({seed, kDrawPurpose, 0, first_row}, starts, rows);
}

void AutoregressiveBase::Refill(const Streams& streams, std::span<const int64_t> starts,
                                std::span<float> rows) const {
  impl_->Refill(streams, starts, rows);
}

}  // namespace ort_ed
