#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/support/collective.h"

namespace ort_ed {

// A run of things that one process does.
struct Share {
  int64_t first = 0;
  int64_t count = 0;
};

// Of `total` things that are cut into units of `unit`, those of process `rank` of `size`: whole units, as
// evenly as can be.
inline Share ShareOf(int rank, int size, int64_t total, int64_t unit = 1) {
  const int64_t units = (total + unit - 1) / unit;
  const int64_t first = std::min(total, units * rank / size * unit);
  return {first, std::min(total, units * (rank + 1) / size * unit) - first};
}

// Every process has computed those of its share; all have all of them afterwards.
template <typename T>
void GatherShares(Collective& processes, std::span<T> values, int64_t unit = 1) {
  if (processes.size() == 1) return;
  const auto share_of = [&](int rank) {
    const Share share = ShareOf(rank, processes.size(), std::ssize(values), unit);
    return values.subspan(static_cast<size_t>(share.first), static_cast<size_t>(share.count));
  };
  const std::span<T> own = share_of(processes.rank());
  const auto all = processes.Gather({reinterpret_cast<const char*>(own.data()), own.size_bytes()});
  for (int rank = 0; rank < processes.size(); ++rank)
    std::copy_n(all[rank].data(), all[rank].size(), reinterpret_cast<char*>(share_of(rank).data()));
}

// Where shard `shard` of `shards` begins among `total` rows: shards are as large as one another, or nearly.
inline int64_t ShardStart(int64_t total, int64_t shards, int64_t shard) { return total * shard / shards; }

}  // namespace ort_ed
