#pragma once

#include <algorithm>
#include <cstdint>

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

// Where shard `shard` of `shards` begins among `total` rows: shards are as large as one another, or nearly.
inline int64_t ShardStart(int64_t total, int64_t shards, int64_t shard) { return total * shard / shards; }

}  // namespace ort_ed
