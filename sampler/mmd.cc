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

// How pairs of rows are compared: the kernel, of the number of bits that differ or that both have.
struct PairKernel {
  MmdKernel kernel;
  double bandwidth;
  int64_t bits;       // of a row
  int64_t variables;  // of a row
  bool by_states;     // a bit for each state of each variable, of which exactly one is set

  double Value(int64_t count) const {
    if (kernel == MmdKernel::kLinear) return static_cast<double>(count);
    return std::exp(-bandwidth * static_cast<double>(by_states ? variables - count : count));
  }
};

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

// A bit for each state of each variable, so that the ones that two rows share tell where they agree.
std::vector<uint8_t> OneBitPerState(std::span<const uint8_t> rows, const Variables& variables) {
  std::vector<uint8_t> bits;
  for (size_t begin = 0; begin < rows.size(); begin += variables.dimension()) {
    for (int64_t v = 0; v < variables.size(); ++v) {
      bits.resize(bits.size() + variables.states(v));
      bits[bits.size() - variables.states(v) + variables.State(rows.data() + begin, v)] = 1;
    }
  }
  return bits;
}

// How many pairs have each count of bits: integers, so that the result does not depend on the order of
// summation.
using Counts = std::vector<int64_t>;

// Adds the pairs of row `i` of a with the rows of b from `first` on.
void AddPairs(const BitRows& a, int64_t i, const BitRows& b, int64_t first, bool different, Counts& counts) {
  for (int64_t j = first; j < b.count(); ++j) {
    int count = 0;
    for (int64_t word = 0; word < a.words(); ++word) {
      const uint64_t x = a.row(i)[word];
      const uint64_t y = b.row(j)[word];
      count += std::popcount(different ? x ^ y : x & y);
    }
    ++counts[count];
  }
}

Counts CountPairs(const BitRows& a, const BitRows& b, bool distinct, const PairKernel& kernel, int threads) {
  constexpr int64_t kBlockRows = 64;
  const bool different = kernel.kernel == MmdKernel::kHamming && !kernel.by_states;
  std::vector<Counts> of_block((a.count() + kBlockRows - 1) / kBlockRows);
  ParallelFor(threads, std::ssize(of_block), 2.0 * static_cast<double>(a.count() * b.count() * a.words()),
              [&](int64_t block) {
                Counts counts(kernel.bits + 1);
                const int64_t end = std::min(a.count(), (block + 1) * kBlockRows);
                for (int64_t i = block * kBlockRows; i < end; ++i)
                  AddPairs(a, i, b, distinct ? i + 1 : 0, different, counts);
                of_block[block] = std::move(counts);
              });
  Counts total(kernel.bits + 1);
  for (const Counts& counts : of_block)
    for (size_t value = 0; value < total.size(); ++value) total[value] += counts[value];
  return total;
}

double MeanKernel(const Counts& counts, const PairKernel& kernel) {
  double sum = 0;
  int64_t pairs = 0;
  for (int64_t count = 0; count < std::ssize(counts); ++count) {
    sum += static_cast<double>(counts[count]) * kernel.Value(count);
    pairs += counts[count];
  }
  return sum / static_cast<double>(pairs);
}

double SquaredMmd(const BitRows& a, const BitRows& b, const PairKernel& kernel, int threads) {
  if (a.count() < 2 || b.count() < 2)
    throw Error(ErrorCode::kInvalidArgument,
                "the maximum mean discrepancy takes at least two rows on either side");
  const auto mean = [&](const BitRows& x, const BitRows& y, bool distinct) {
    return MeanKernel(CountPairs(x, y, distinct, kernel, threads), kernel);
  };
  return mean(a, a, true) + mean(b, b, true) - 2 * mean(a, b, false);
}

}  // namespace

MmdKernel ParseMmdKernel(const std::string& name) { return FindNamed(kKernels, name, "kernel").kernel; }

double SquaredMmd(std::span<const uint8_t> a, std::span<const uint8_t> b, const Variables& variables,
                  MmdKernel kernel, double bandwidth, int threads) {
  PairKernel pairs{kernel, bandwidth, variables.dimension(), variables.size(), false};
  if (variables.all_binary() || kernel != MmdKernel::kHamming)
    return SquaredMmd(BitRows(a, pairs.bits), BitRows(b, pairs.bits), pairs, threads);
  pairs.by_states = true;
  pairs.bits = 0;
  for (int64_t v = 0; v < variables.size(); ++v) pairs.bits += variables.states(v);
  return SquaredMmd(BitRows(OneBitPerState(a, variables), pairs.bits),
                    BitRows(OneBitPerState(b, variables), pairs.bits), pairs, threads);
}

std::vector<double> SquaredMmdOfShuffled(std::span<const uint8_t> a, std::span<const uint8_t> b,
                                         const Variables& variables, int64_t repeats, uint64_t seed,
                                         MmdKernel kernel, double bandwidth, int threads) {
  const int64_t dimension = variables.dimension();
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
        SquaredMmd(all.first(a.size()), all.last(b.size()), variables, kernel, bandwidth, threads));
  }
  return values;
}

}  // namespace ort_ed
