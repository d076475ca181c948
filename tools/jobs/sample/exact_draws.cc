#include "tools/jobs/sample/exact_draws.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "ort_ed/random.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDrawPurpose = 0x45584143;  // "EXAC"

// Rows that are clamped each in its own way; 1: all alike.
int64_t CountLaws(const SampleStart& start) {
  return start.clamped.empty() ? 1 : std::max<int64_t>(1, start.rows);
}

bool IsClamped(const SampleStart& start, const Variables& variables, int64_t row, int64_t variable) {
  if (start.clamped.empty()) return false;
  const bool one_for_all = std::ssize(start.clamped) == variables.dimension();
  return start.clamped[(one_for_all ? 0 : row) * variables.dimension() + variables.first_bit(variable)] != 0;
}

std::vector<int64_t> OpenVariables(const SampleStart& start, const Variables& variables, int64_t row) {
  std::vector<int64_t> open;
  for (int64_t v = 0; v < variables.size(); ++v)
    if (!IsClamped(start, variables, row, v)) open.push_back(v);
  return open;
}

std::optional<int64_t> CountStates(const std::vector<int64_t>& open, const Variables& variables) {
  int64_t states = 1;
  for (const int64_t v : open)
    if ((states *= variables.states(v)) > kMostDrawnStates) return std::nullopt;
  return states;
}

// Weights relative to the largest, summed up.
std::vector<double> SumWeights(std::vector<double> energies, double beta) {
  double lowest = energies.front();
  for (double& energy : energies) {
    energy *= beta;
    lowest = std::min(lowest, energy);
  }
  if (!std::isfinite(lowest))
    throw Error(
        ErrorCode::kBadModel,
        "no state can be drawn: some have an energy of minus infinity, or none a finite one; look for "
        "divergence in the model's training");
  double sum = 0;
  for (double& energy : energies) energy = sum += std::exp(lowest - energy);
  return energies;
}

}  // namespace

std::optional<int64_t> CountOpenStates(const Variables& variables, const SampleStart& start) {
  int64_t most = 1;
  for (int64_t row = 0; row < CountLaws(start); ++row) {
    const auto states = CountStates(OpenVariables(start, variables, row), variables);
    if (!states) return std::nullopt;
    most = std::max(most, *states);
  }
  return most;
}

ExactDraws::ExactDraws(const EnergyFunction& energy, const SampleStart& start, double beta, uint64_t seed,
                       Observer& observer)
    : energy_(energy),
      start_(start),
      variables_(energy.variables()),
      beta_(beta),
      seed_(seed),
      observer_(observer) {
  if (!CountOpenStates(variables_, start))
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("sampler 'exact' goes through all states of the variables that are open, up to {}, "
                    "and here there are more; use 'gibbs'",
                    kMostDrawnStates));
  if (CountLaws(start) == 1) only_ = Enumerate(0);
}

ExactDraws::Law ExactDraws::Enumerate(int64_t row) {
  const int64_t dimension = variables_.dimension();
  Law law{.row = std::vector<float>(static_cast<size_t>(dimension)),
          .open = OpenVariables(start_, variables_, row)};
  if (start_.rows > 0) std::copy_n(start_.states.begin() + row * dimension, dimension, law.row.begin());
  const int64_t states = *CountStates(law.open, variables_);
  constexpr int64_t kBlock = 1024;
  std::vector<double> energies(static_cast<size_t>(states));
  std::vector<float> rows;
  const auto watch = Watch(observer_, "enumerating", "states");
  for (int64_t done = 0; done < states; done += kBlock) {
    const int64_t count = std::min(kBlock, states - done);
    rows.resize(static_cast<size_t>(count * dimension));
    for (int64_t i = 0; i < count; ++i) SetOpen(law, done + i, rows.data() + i * dimension);
    energy_.Energy(rows, std::span(energies).subspan(done, count));
    watch(row * states + done + count, CountLaws(start_) * states);
  }
  evaluations_ += states;
  law.sums = SumWeights(std::move(energies), beta_);
  return law;
}

// The first open variable changes fastest.
void ExactDraws::SetOpen(const Law& law, int64_t state, float* row) const {
  std::ranges::copy(law.row, row);
  for (const int64_t v : law.open) {
    variables_.SetState(row, v, state % variables_.states(v));
    state /= variables_.states(v);
  }
}

void ExactDraws::DrawOne(const Law& law, int64_t number, uint8_t* bits) const {
  RandomStream random(seed_, kDrawPurpose, 0, static_cast<uint64_t>(number));
  const double place = random.UniformDouble() * law.sums.back();
  const auto found = std::upper_bound(law.sums.begin(), law.sums.end() - 1, place);
  std::vector<float> row(law.row.size());
  SetOpen(law, found - law.sums.begin(), row.data());
  std::ranges::copy(row, bits);
}

std::vector<uint8_t> ExactDraws::Draw(int64_t first, int64_t count) {
  const int64_t dimension = variables_.dimension(), laws = CountLaws(start_);
  std::vector<uint8_t> rows(static_cast<size_t>(count * dimension));
  for (int64_t row = 0; row < std::min(laws, count); ++row) {
    // The draws of each row one after the other, so that one enumeration is in memory at a time.
    const Law law = only_ ? Law{} : Enumerate((first + row) % laws);
    for (int64_t i = row; i < count; i += laws)
      DrawOne(only_ ? *only_ : law, first + i, rows.data() + i * dimension);
  }
  return rows;
}

}  // namespace ort_ed
