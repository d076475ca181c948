#include "ort_ed/mmd.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "runtime/support/named.h"
#include "runtime/support/parallel_for.h"

namespace ort_ed {
namespace {

constexpr uint32_t kShufflePurpose = 0x5348554Du;

struct NamedKernel {
  const char* name;
  MmdKernel kernel;
};
constexpr NamedKernel kKernels[] = {{"hamming", MmdKernel::kHamming}, {"linear", MmdKernel::kLinear}};

// Rows as 64-bit words: distances and scalar products are popcounts.
class BitRows {
 public:
  BitRows(std::span<const uint8_t> rows, int64_t dimension)
      : count_(static_cast<int64_t>(rows.size()) / dimension),
        words_((dimension + 63) / 64),
        bits_(count_ * words_) {
    for (int64_t row = 0; row < count_; ++row)
      for (int64_t i = 0; i < dimension; ++i)
        bits_[row * words_ + i / 64] |= uint64_t{rows[row * dimension + i] != 0} << (i % 64);
  }
  int64_t count() const { return count_; }
  int64_t words() const { return words_; }
  const uint64_t* row(int64_t i) const { return bits_.data() + i * words_; }

 private:
  int64_t count_;
  int64_t words_;
  std::vector<uint64_t> bits_;
};

// How many pairs have each distance (kHamming) or scalar product (kLinear): integers, so that the result does
// not depend on the order of summation.
using Counts = std::vector<int64_t>;

// Adds the pairs of row `i` of a with the rows of b from `first` on.
void AddPairs(const BitRows& a, int64_t i, const BitRows& b, int64_t first, MmdKernel kernel,
              Counts& counts) {
  for (int64_t j = first; j < b.count(); ++j) {
    int common = 0;
    for (int64_t word = 0; word < a.words(); ++word) {
      const uint64_t x = a.row(i)[word];
      const uint64_t y = b.row(j)[word];
      common += std::popcount(kernel == MmdKernel::kHamming ? x ^ y : x & y);
    }
    ++counts[common];
  }
}

Counts CountPairs(const BitRows& a, const BitRows& b, bool distinct, int64_t dimension, MmdKernel kernel,
                  int threads) {
  constexpr int64_t kBlockRows = 64;
  std::vector<Counts> of_block((a.count() + kBlockRows - 1) / kBlockRows);
  ParallelFor(threads, std::ssize(of_block), 2.0 * static_cast<double>(a.count() * b.count() * a.words()),
              [&](int64_t block) {
                Counts counts(dimension + 1);
                const int64_t end = std::min(a.count(), (block + 1) * kBlockRows);
                for (int64_t i = block * kBlockRows; i < end; ++i)
                  AddPairs(a, i, b, distinct ? i + 1 : 0, kernel, counts);
                of_block[block] = std::move(counts);
              });
  Counts total(dimension + 1);
  for (const Counts& counts : of_block)
    for (int64_t value = 0; value <= dimension; ++value) total[value] += counts[value];
  return total;
}

double MeanKernel(const Counts& counts, MmdKernel kernel, double bandwidth) {
  double sum = 0;
  int64_t pairs = 0;
  for (size_t value = 0; value < counts.size(); ++value) {
    const auto v = static_cast<double>(value);
    sum +=
        static_cast<double>(counts[value]) * (kernel == MmdKernel::kHamming ? std::exp(-bandwidth * v) : v);
    pairs += counts[value];
  }
  return sum / static_cast<double>(pairs);
}

}  // namespace

MmdKernel ParseMmdKernel(const std::string& name) { return FindNamed(kKernels, name, "kernel").kernel; }

double SquaredMmd(std::span<const uint8_t> a, std::span<const uint8_t> b, int64_t dimension, MmdKernel kernel,
                  double bandwidth, int threads) {
  const BitRows rows_a(a, dimension);
  const BitRows rows_b(b, dimension);
  if (rows_a.count() < 2 || rows_b.count() < 2)
    throw Error(ErrorCode::kInvalidArgument,
                "the maximum mean discrepancy takes at least two rows on either side");
  const auto mean = [&](const BitRows& x, const BitRows& y, bool distinct) {
    return MeanKernel(CountPairs(x, y, distinct, dimension, kernel, threads), kernel, bandwidth);
  };
  return mean(rows_a, rows_a, true) + mean(rows_b, rows_b, true) - 2 * mean(rows_a, rows_b, false);
}

std::vector<double> SquaredMmdOfShuffled(std::span<const uint8_t> a, std::span<const uint8_t> b,
                                         int64_t dimension, int64_t repeats, uint64_t seed, MmdKernel kernel,
                                         double bandwidth, int threads) {
  std::vector<uint8_t> rows(a.begin(), a.end());
  rows.insert(rows.end(), b.begin(), b.end());
  const auto row = [&](uint32_t i) { return rows.begin() + i * dimension; };
  const auto count = static_cast<uint32_t>(rows.size() / dimension);
  const std::span all(rows);
  std::vector<double> values;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    RandomStream random(seed, kShufflePurpose, repeat, 0);
    for (uint32_t i = count; i > 1; --i) {
      const uint32_t j = random.Below(i);
      if (j != i - 1) std::swap_ranges(row(j), row(j) + dimension, row(i - 1));
    }
    values.push_back(
        SquaredMmd(all.first(a.size()), all.last(b.size()), dimension, kernel, bandwidth, threads));
  }
  return values;
}

}  // namespace ort_ed
