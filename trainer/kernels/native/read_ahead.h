#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace ort_ed {

// Memory that will be read next, asked for a few cache lines at a time while the tiles before it are
// computed: at once it would only queue, and the processor itself does not look past the end of a row.
class ReadAhead {
 public:
  void Add(const float* data, size_t count) {
    if (count == 0 || ranges_used_ == ranges_.size()) return;
    ranges_[ranges_used_++] = {data, data + count};
    lines_ += (count + kLine - 1) / kLine;
  }

  // Shares what was added among `steps` calls of Step().
  void Spread(size_t steps) { lines_a_step_ = steps > 0 ? (lines_ + steps - 1) / steps : 0; }

  void Step() {
    if (current_ == ranges_used_) return;
    Range& range = ranges_[current_];
    const float* const end = std::min(range.next + lines_a_step_ * kLine, range.end);
    for (const float* line = range.next; line < end; line += kLine) __builtin_prefetch(line, 0, 2);
    range.next = end;
    if (end == range.end) ++current_;
  }

 private:
  static constexpr size_t kLine = 16;
  struct Range {
    const float* next;
    const float* end;
  };

  std::array<Range, 4> ranges_{};
  size_t ranges_used_ = 0, current_ = 0;
  size_t lines_ = 0, lines_a_step_ = 0;
};

}  // namespace ort_ed
