#include <algorithm>
#include <cmath>
#include <string>

#include "ort_ed/base_distribution.h"
#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "runtime/support/parallel_for.h"
#include "sampler/base/autoregressive_network.h"
#include "sampler/kinds/gradient_sampler.h"

namespace ort_ed {
namespace {

using Block = AutoregressiveNetwork::Block;

constexpr uint32_t kDrawPurpose = 0x41524457;     // "ARDW"
constexpr uint32_t kNetworkPurpose = 0x41524E57;  // "ARNW": which network draws a row

// -log of the mean of exp(-energies), which become the shares p(k | x).
double Mix(std::span<double> energies) {
  const double lowest = std::ranges::min(energies);
  double sum = 0;
  for (double& energy : energies) sum += energy = std::exp(lowest - energy);
  for (double& share : energies) share /= sum;
  return lowest - std::log(sum / static_cast<double>(energies.size()));
}

}  // namespace

struct AutoregressiveBase::Impl {
  Impl(std::span<const AutoregressiveTensors> tensors, int thread_count) : threads(thread_count) {
    for (const AutoregressiveTensors& each : tensors) {
      networks.emplace_back(each);
      if (!(networks.back().variables() == networks.front().variables()))
        throw Error(ErrorCode::kInvalidArgument, "the networks of a mixture must have the same variables");
    }
    if (networks.empty()) throw Error(ErrorCode::kInvalidArgument, "there is no network");
  }

  size_t width() const { return static_cast<size_t>(networks.front().dimension()); }

  void CheckRows(size_t values, size_t rows) const {
    if (values != rows * width())
      throw Error(ErrorCode::kInvalidArgument, std::to_string(values) + " values are not " +
                                                   std::to_string(rows) + " rows of " +
                                                   std::to_string(width()));
  }

  template <typename Rows>
  auto Row(const Rows& rows, size_t row) const {
    return rows.subspan(row * width(), width());
  }

  // Calls work(number) for each block, on several threads where that is worth it.
  template <typename Work>
  void ForEachBlock(size_t blocks, size_t networks_each, const Work& work) const {
    const double nanoseconds = static_cast<double>(blocks * networks_each * width() * width());
    ParallelFor(threads, static_cast<int64_t>(blocks), nanoseconds, work);
  }

  // Calls work(first row, rows) for the rows of each block.
  template <typename Work>
  void ForEachRows(size_t rows, const Work& work) const {
    ForEachBlock((rows + kLanes - 1) / kLanes, networks.size(), [&](int64_t block) {
      const size_t first = static_cast<size_t>(block) * kLanes;
      work(first, std::min<size_t>(kLanes, rows - first));
    });
  }

  // Of one block of rows under one network.
  void EvaluateBlock(const AutoregressiveNetwork& network, std::span<const float> rows,
                     std::span<double> energies, std::span<float> gradients) const {
    Block block(network);
    for (size_t r = 0; r < energies.size(); ++r) network.Load(Row(rows, r), static_cast<int64_t>(r), block);
    std::ranges::fill(energies, 0.0);
    for (int64_t position = 0; position < network.positions(); ++position) {
      network.FinishUnits(position, block);
      network.ComputeScores(position, block);
      for (size_t r = 0; r < energies.size(); ++r)
        energies[r] += network.Surprise(position, static_cast<int64_t>(r), block);
    }
    if (gradients.empty()) return;
    // The last units see all but the last variable, so none is missing.
    block.x = network.Gradient(block);
    for (size_t r = 0; r < energies.size(); ++r)
      network.Store(block, static_cast<int64_t>(r), Row(gradients, r));
  }

  // Of one block of rows: the shares of the networks, row by row; U0 and dU0/dx where they are wanted.
  std::vector<double> MixBlock(std::span<const float> rows, std::span<double> energies,
                               std::span<float> gradients) const {
    const size_t count = rows.size() / width(), k = networks.size();
    std::vector<double> of_network(count), shares(count * k);
    std::vector<std::vector<float>> slopes(k, std::vector<float>(gradients.size()));
    for (size_t n = 0; n < k; ++n) {
      EvaluateBlock(networks[n], rows, of_network, slopes[n]);
      for (size_t r = 0; r < count; ++r) shares[r * k + n] = of_network[r];
    }
    for (size_t r = 0; r < count; ++r) {
      const double energy = Mix(std::span(shares).subspan(r * k, k));
      if (!energies.empty()) energies[r] = energy;
    }
    for (size_t i = 0; i < gradients.size(); ++i) {
      double slope = 0;
      for (size_t n = 0; n < k; ++n) slope += shares[i / width() * k + n] * slopes[n][i];
      gradients[i] = static_cast<float>(slope);
    }
    return shares;
  }

  void Evaluate(std::span<const float> rows, std::span<double> energies, std::span<float> gradients) const {
    CheckRows(rows.size(), energies.size());
    ForEachRows(energies.size(), [&](size_t first, size_t count) {
      const auto part = [&](const auto& values) {
        return values.empty() ? values : values.subspan(first * width(), count * width());
      };
      const auto own = energies.subspan(first, count);
      if (networks.size() == 1) {
        EvaluateBlock(networks[0], part(rows), own, part(gradients));
      } else {
        MixBlock(part(rows), own, part(gradients));
      }
    });
  }

  std::vector<int32_t> DrawNetworks(const Streams& streams, std::span<const float> rows) const {
    const size_t count = rows.size() / width(), k = networks.size();
    CheckRows(rows.size(), count);
    std::vector<int32_t> drawn(count);
    if (k == 1) return drawn;
    ForEachRows(count, [&](size_t first, size_t in_block) {
      const std::vector<double> shares = MixBlock(rows.subspan(first * width(), in_block * width()), {}, {});
      for (size_t r = 0; r < in_block; ++r) {
        RandomStream random = StreamOf(streams, first + r);
        drawn[first + r] =
            static_cast<int32_t>(DrawWeighted(std::span(shares).subspan(r * k, k), 1.0, random));
      }
    });
    return drawn;
  }

  static RandomStream StreamOf(const Streams& streams, size_t row) {
    return {streams.seed, streams.purpose, streams.step, streams.first_row + row};
  }

  // Up to kLanes rows, which one network draws.
  struct Group {
    const AutoregressiveNetwork* network;
    std::vector<size_t> rows;
  };

  std::vector<Group> GroupRows(size_t rows, std::span<const int32_t> drawn) const {
    const bool left_out = networks.size() == 1 && drawn.empty();
    if (drawn.size() != (left_out ? 0 : rows) ||
        std::ranges::any_of(drawn, [&](int32_t n) { return n < 0 || n >= std::ssize(networks); }))
      throw Error(ErrorCode::kInvalidArgument, "each row needs the number of one of the networks");
    std::vector<Group> groups;
    for (size_t n = 0; n < networks.size(); ++n) {
      size_t lane = 0;
      for (size_t row = 0; row < rows; ++row) {
        if (!left_out && drawn[row] != static_cast<int32_t>(n)) continue;
        if (lane++ % kLanes == 0) groups.push_back({&networks[n], {}});
        groups.back().rows.push_back(row);
      }
    }
    return groups;
  }

  void RefillGroup(const Streams& streams, const Group& group, std::span<const int64_t> starts,
                   std::span<float> rows) const {
    const auto& [network, members] = group;
    const size_t count = members.size();
    Block block(*network);
    std::vector<RandomStream> random;
    int64_t earliest = network->positions();
    for (size_t r = 0; r < count; ++r) {
      network->Load(Row(rows, members[r]), static_cast<int64_t>(r), block);
      random.push_back(StreamOf(streams, members[r]));
      earliest = std::min(earliest, starts[members[r]]);
    }
    network->SkipTo(earliest, block);
    for (int64_t position = 0; position < network->positions(); ++position) {
      network->FinishUnits(position, block);
      if (position < earliest) continue;
      network->ComputeScores(position, block);
      for (size_t r = 0; r < count; ++r)
        if (position >= starts[members[r]])
          network->Draw(position, static_cast<int64_t>(r), random[r], block);
    }
    for (size_t r = 0; r < count; ++r) network->Store(block, static_cast<int64_t>(r), Row(rows, members[r]));
  }

  void Refill(const Streams& streams, std::span<const int64_t> starts, std::span<float> rows,
              std::span<const int32_t> drawn) const {
    CheckRows(rows.size(), starts.size());
    const std::vector<Group> groups = GroupRows(starts.size(), drawn);
    ForEachBlock(groups.size(), 1, [&](int64_t group) { RefillGroup(streams, groups[group], starts, rows); });
  }

  std::vector<AutoregressiveNetwork> networks;
  int threads;
};

AutoregressiveBase::AutoregressiveBase(const AutoregressiveTensors& tensors, int threads)
    : AutoregressiveBase(std::span(&tensors, 1), threads) {}
AutoregressiveBase::AutoregressiveBase(std::span<const AutoregressiveTensors> networks, int threads)
    : impl_(std::make_unique<Impl>(networks, threads)) {}
AutoregressiveBase::~AutoregressiveBase() = default;

int64_t AutoregressiveBase::dimension() const { return impl_->networks.front().dimension(); }
const Variables& AutoregressiveBase::variables() const { return impl_->networks.front().variables(); }
int64_t AutoregressiveBase::networks() const { return std::ssize(impl_->networks); }
std::span<const int32_t> AutoregressiveBase::order(int64_t network) const {
  return impl_->networks.at(static_cast<size_t>(network)).order();
}

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
  std::vector<int32_t> drawn(starts.size());
  for (size_t row = 0; networks() > 1 && row < drawn.size(); ++row)
    drawn[row] = static_cast<int32_t>(
        RandomStream(seed, kNetworkPurpose, 0, first_row + row).Below(static_cast<uint32_t>(networks())));
  Refill({seed, kDrawPurpose, 0, first_row}, starts, rows, drawn);
}

std::vector<int32_t> AutoregressiveBase::DrawNetworks(const Streams& streams,
                                                      std::span<const float> rows) const {
  return impl_->DrawNetworks(streams, rows);
}

void AutoregressiveBase::Refill(const Streams& streams, std::span<const int64_t> starts,
                                std::span<float> rows, std::span<const int32_t> networks) const {
  impl_->Refill(streams, starts, rows, networks);
}

}  // namespace ort_ed
