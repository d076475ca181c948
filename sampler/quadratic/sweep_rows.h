#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampler/quadratic/sweep.h"

namespace ort_ed {

inline int64_t CountSweepGroups(int64_t rows) { return (rows + kSweepRows - 1) / kSweepRows; }

inline SweepEnergy MakeSweepEnergy(const QuadraticEnergy& energy) {
  return {energy.dimension(), energy.fields().data(), energy.starts().data(), energy.neighbours(0).data()};
}

// kSweepRows rows of 0 and 1, transposed. Places beyond the last row are 0.
class SweepRows {
 public:
  explicit SweepRows(int64_t dimension) : sites_(dimension) {}

  SweepBits* data() { return sites_.data(); }
  const SweepBits* data() const { return sites_.data(); }

  // `rows`: all rows, of which the kSweepRows of `group` are meant; a value that is not 0 counts as 1.
  template <typename T>
  void Load(std::span<const T> rows, int64_t group) {
    for (SweepBits& site : sites_) site = {};
    ForEachRow(rows, group, [this](int place, const T* row) {
      for (size_t i = 0; i < sites_.size(); ++i) sites_[i].row[place] = -static_cast<int32_t>(row[i] != 0);
    });
  }

  void Store(std::span<float> rows, int64_t group) const {
    ForEachRow(rows, group, [this](int place, float* row) {
      for (size_t i = 0; i < sites_.size(); ++i) row[i] = sites_[i].row[place] != 0 ? 1.0f : 0.0f;
    });
  }

 private:
  template <typename T, typename Body>
  void ForEachRow(std::span<T> rows, int64_t group, const Body& body) const {
    const int64_t count = static_cast<int64_t>(rows.size() / sites_.size());
    for (int place = 0; place < kSweepRows && group * kSweepRows + place < count; ++place)
      body(place, rows.data() + (group * kSweepRows + place) * static_cast<int64_t>(sites_.size()));
  }

  std::vector<SweepBits> sites_;
};

}  // namespace ort_ed
