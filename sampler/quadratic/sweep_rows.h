#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampler/quadratic/sweep.h"

namespace ort_ed {

inline int64_t LaneGroups(int64_t rows) { return (rows + kLanes - 1) / kLanes; }

inline LaneEnergy MakeLaneEnergy(const QuadraticEnergy& energy) {
  return {energy.dimension(), energy.fields().data(), energy.starts().data(), energy.neighbours(0).data()};
}

// kLanes rows of 0 and 1, transposed into lanes. Lanes beyond the last row are 0.
class LaneRows {
 public:
  explicit LaneRows(int64_t dimension) : sites_(dimension) {}

  LaneBits* data() { return sites_.data(); }
  const LaneBits* data() const { return sites_.data(); }

  // `rows`: all rows, of which the kLanes of `group` are meant; a value that is not 0 counts as 1.
  template <typename T>
  void Load(std::span<const T> rows, int64_t group) {
    for (LaneBits& site : sites_) site = {};
    ForEachRow(rows, group, [this](int lane, const T* row) {
      for (size_t i = 0; i < sites_.size(); ++i) sites_[i].lane[lane] = -static_cast<int32_t>(row[i] != 0);
    });
  }

  void Store(std::span<float> rows, int64_t group) const {
    ForEachRow(rows, group, [this](int lane, float* row) {
      for (size_t i = 0; i < sites_.size(); ++i) row[i] = sites_[i].lane[lane] != 0 ? 1.0f : 0.0f;
    });
  }

 private:
  template <typename T, typename Body>
  void ForEachRow(std::span<T> rows, int64_t group, const Body& body) const {
    const int64_t count = static_cast<int64_t>(rows.size() / sites_.size());
    for (int lane = 0; lane < kLanes && group * kLanes + lane < count; ++lane)
      body(lane, rows.data() + (group * kLanes + lane) * static_cast<int64_t>(sites_.size()));
  }

  std::vector<LaneBits> sites_;
};

}  // namespace ort_ed
