// Perturbations of rows whose variables have several states, against laws that are written down by
// enumeration of all states, independently of the code under test.

#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chi_square.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/negatives/perturbation_law.h"

namespace ort_ed {
namespace {

constexpr uint64_t kSeed = 20241201;

using StateVector = std::vector<int>;  // of each variable
using Matrix = std::vector<std::vector<double>>;

Variables Mixed() {
  return Variables({
      {.name = "colour", .kind = VariableKind::kNominal, .labels = {"r", "g", "b"}},
      {.name = "on"},
      {.name = "size", .kind = VariableKind::kOrdered, .labels = {"S", "M", "L"}, .missing = true},
  });
}
Variables Ring() {
  return Variables({{.name = "hour", .kind = VariableKind::kCyclic, .labels = {"0", "6", "12", "18", "21"}},
                    {.name = "on"}});
}

std::vector<StateVector> AllStates(const Variables& variables) {
  std::vector<StateVector> all = {{}};
  for (int64_t v = 0; v < variables.size(); ++v) {
    std::vector<StateVector> longer;
    for (const StateVector& start : all)
      for (int k = 0; k < variables.states(v); ++k) {
        longer.push_back(start);
        longer.back().push_back(k);
      }
    all = longer;
  }
  return all;
}

std::vector<uint8_t> RowOf(const Variables& variables, const StateVector& state) {
  std::vector<uint8_t> row(static_cast<size_t>(variables.dimension()));
  for (int64_t v = 0; v < variables.size(); ++v) variables.SetState(row.data(), v, state[v]);
  return row;
}

StateVector VectorOf(const Variables& variables, std::span<const uint8_t> row) {
  EXPECT_EQ(variables.FindBroken(row), std::nullopt) << "a negative that is no state";
  StateVector state;
  for (int64_t v = 0; v < variables.size(); ++v)
    state.push_back(static_cast<int>(variables.State(row.data(), v)));
  return state;
}

// exp(time * generator) by its series.
Matrix Exponential(const Matrix& generator, double time) {
  const size_t n = generator.size();
  Matrix sum(n, std::vector<double>(n)), term = sum;
  for (size_t i = 0; i < n; ++i) sum[i][i] = term[i][i] = 1;
  for (int k = 1; k < 80; ++k) {
    Matrix next(n, std::vector<double>(n));
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        for (size_t l = 0; l < n; ++l) next[i][j] += term[i][l] * generator[l][j] * time / k;
    term = next;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) sum[i][j] += term[i][j];
  }
  return sum;
}

Matrix Identity(int n) {
  Matrix matrix(n, std::vector<double>(n));
  for (int i = 0; i < n; ++i) matrix[i][i] = 1;
  return matrix;
}

Matrix Redrawn(int states, double probability) {
  Matrix matrix(states, std::vector<double>(states, probability / states));
  for (int i = 0; i < states; ++i) matrix[i][i] += 1 - probability;
  return matrix;
}

// Jumps to both neighbours at rate 1; `still` further states stay.
Matrix Walk(int states, bool ring, double time, int still = 0) {
  Matrix generator(states + still, std::vector<double>(states + still));
  for (int i = 0; i < states; ++i)
    for (const int step : {-1, 1}) {
      const int to = ring ? (i + step + states) % states : i + step;
      if (to < 0 || to >= states) continue;
      generator[i][to] += 1;
      generator[i][i] -= 1;
    }
  return Exponential(generator, time);
}

struct Law {
  Choice method;
  Variables variables;
  std::vector<std::vector<Matrix>> levels;  // of each: a symmetric matrix for each variable
  std::unique_ptr<NegativeSource> Make() const {
    return MakeNegatives(method, {.dimension = variables.dimension(), .variables = variables});
  }
};

std::vector<Law> SampledLaws() {
  const auto uniform = [](double p) { return std::vector{Redrawn(3, p), Redrawn(2, p), Redrawn(4, p)}; };
  return {
      {{"uniform", {{"redraws", 1.5}}}, Mixed(), {uniform(0.5)}},
      {{"uniform", {{"redraws", std::vector{0.6, 30.0}}}}, Mixed(), {uniform(0.2), uniform(1)}},
      {{"ordered", {{"walk_time", 0.1}}}, Mixed(), {{Identity(3), Identity(2), Walk(3, false, 0.9, 1)}}},
      {{"cyclic", {{"walk_time", 0.02}}}, Ring(), {{Walk(5, true, 0.5), Identity(2)}}},
      {{"ordered+uniform", {{"redraws", 3.0}, {"walk_time", 0.3}}},
       Mixed(),
       {{Identity(3), Identity(2), Walk(3, false, 2.7, 1)}, uniform(1)}},
  };
}

ContrastiveBatch FillWith(NegativeSource& source, const std::vector<uint8_t>& row, int64_t draws,
                          int64_t requested, int64_t step) {
  ContrastiveBatch batch = EmptyBatch(source, draws, requested, std::ssize(row));
  for (int64_t i = 0; i < draws; ++i) std::ranges::copy(row, batch.Positive(i).begin());
  source.Fill({.seed = kSeed, .step = step}, batch);
  return batch;
}

// The joint law of two negatives, which also shows that they share one y.
TEST(CategoryPerturbation, PairsOfNegativesFollowTheDefinition) {
  constexpr int64_t kDraws = 60000;
  for (const Law& law : SampledLaws()) {
    const auto source = law.Make();
    const auto all = AllStates(law.variables);
    for (const StateVector& x : {all.front(), all.back(), all[all.size() / 2]}) {
      std::map<std::pair<StateVector, StateVector>, double> expected, counts;
      for (const auto& level : law.levels) {
        const auto q = [&](const StateVector& from, const StateVector& to) {
          double product = 1;
          for (size_t v = 0; v < from.size(); ++v) product *= level[v][from[v]][to[v]];
          return product;
        };
        for (const StateVector& y : all)
          for (const StateVector& a : all)
            for (const StateVector& b : all)
              if (const double p = q(x, y) * q(y, a) * q(y, b); p > 0)
                expected[{a, b}] += p / static_cast<double>(law.levels.size());
      }
      ContrastiveBatch batch = FillWith(*source, RowOf(law.variables, x), kDraws, 2, x[0]);
      EXPECT_TRUE(batch.log_weights.empty());
      const auto width = static_cast<size_t>(law.variables.dimension());
      for (int64_t i = 0; i < kDraws; ++i)
        ++counts[{VectorOf(law.variables, batch.Negatives(i).first(width)),
                  VectorOf(law.variables, batch.Negatives(i).last(width))}];
      const ChiSquare test = ChiSquareTest(counts, expected);
      EXPECT_TRUE(test.Passes()) << law.method.kind << ": " << test.statistic << " with " << test.degrees
                                 << " degrees, " << test.draws_where_none_can_be << " impossible draws";
    }
  }
}

int Differences(const StateVector& a, const StateVector& b) {
  int count = 0;
  for (size_t v = 0; v < a.size(); ++v) count += a[v] != b[v];
  return count;
}

TEST(CategoryPerturbation, GridChangesOneVariableToAnyOtherState) {
  constexpr int64_t kDraws = 60000;
  const Variables variables = Mixed();
  const auto all = AllStates(variables);
  const auto width = static_cast<size_t>(variables.dimension());
  constexpr int kNeighbours = 2 + 1 + 3;
  for (const StateVector& x : {all.front(), all.back()}) {
    std::map<StateVector, std::map<StateVector, double>> neighbours;
    for (const StateVector& y : all)
      for (const StateVector& z : all)
        if (Differences(y, z) == 1) neighbours[y][z] = 1.0 / kNeighbours;
    ASSERT_EQ(neighbours[x].size(), size_t{kNeighbours});

    const RowContext rows{.dimension = variables.dimension(), .variables = variables};
    const auto sampled = MakeNegatives({"grid", {}}, rows);
    std::map<std::pair<StateVector, StateVector>, double> expected, counts;
    for (const auto& [y, q] : neighbours[x])
      for (const auto& [a, p] : neighbours[y])
        for (const auto& [b, r] : neighbours[y]) expected[{a, b}] += q * p * r;
    ContrastiveBatch batch = FillWith(*sampled, RowOf(variables, x), kDraws, 2, 1);
    for (int64_t i = 0; i < kDraws; ++i)
      ++counts[{VectorOf(variables, batch.Negatives(i).first(width)),
                VectorOf(variables, batch.Negatives(i).last(width))}];
    EXPECT_TRUE(ChiSquareTest(counts, expected).Passes());

    const auto exact = MakeNegatives({"grid", {{"exact", true}}}, rows);
    ASSERT_EQ(exact->shape(9).negatives, kNeighbours);
    ContrastiveBatch enumerated = FillWith(*exact, RowOf(variables, x), 500, 9, 2);
    for (int64_t i = 0; i < 500; ++i) {
      std::map<StateVector, double> found;
      for (size_t j = 0; j < kNeighbours; ++j)
        found[VectorOf(variables, enumerated.Negatives(i).subspan(j * width, width))] = 1.0 / kNeighbours;
      EXPECT_TRUE(found.contains(x));
      EXPECT_TRUE(std::ranges::any_of(neighbours[x],
                                      [&](const auto& each) { return neighbours[each.first] == found; }));
    }
  }
}

// All fillings of the erased variables once, and rows of weight zero behind them.
TEST(CategoryPerturbation, EraseFillsWholeVariables) {
  const Variables variables = Mixed();
  const auto all = AllStates(variables);
  const auto width = static_cast<size_t>(variables.dimension());
  const RowContext rows{.dimension = variables.dimension(), .variables = variables};
  const std::map<std::vector<int>, int> fillings = {{{0, 1}, 6}, {{0, 2}, 12}, {{1, 2}, 8}};
  const auto exact = MakeNegatives({"erase", {{"exact", true}, {"block", 2}}}, rows);
  ASSERT_EQ(exact->shape(3).negatives, 12);
  ASSERT_TRUE(exact->shape(3).weighted);
  constexpr int64_t kDraws = 9000;
  const StateVector& x = all[7];
  ContrastiveBatch batch = FillWith(*exact, RowOf(variables, x), kDraws, 3, 3);
  std::map<std::vector<int>, double> counts, expected;
  for (const auto& [erased, count] : fillings) expected[erased] = 1.0 / 3;
  for (int64_t i = 0; i < kDraws; ++i) {
    std::map<StateVector, float> found;
    std::vector<int> changed;
    for (int64_t j = 0; j < 12; ++j) {
      const float weight = batch.LogWeights(i)[1 + j];
      const StateVector state = VectorOf(variables, batch.Negatives(i).subspan(j * width, width));
      if (weight == kLogOfZero) continue;
      EXPECT_TRUE(found.emplace(state, weight).second);
    }
    for (int v = 0; v < 3; ++v)
      if (std::ranges::any_of(found, [&](const auto& each) { return each.first[v] != x[v]; }))
        changed.push_back(v);
    ASSERT_TRUE(fillings.contains(changed));
    EXPECT_EQ(std::ssize(found), fillings.at(changed));
    for (const auto& [state, weight] : found)
      EXPECT_NEAR(weight, std::log(12.0 / fillings.at(changed)), 1e-6);
    EXPECT_NEAR(batch.LogWeights(i)[0], std::log(12.0 / fillings.at(changed)), 1e-6);
    ++counts[changed];
  }
  EXPECT_TRUE(ChiSquareTest(counts, expected).Passes());
}

TEST(CategoryPerturbation, DrawnFillingsAreEven) {
  const Variables variables = Mixed();
  const auto all = AllStates(variables);
  const RowContext rows{.dimension = variables.dimension(), .variables = variables};
  const auto sampled = MakeNegatives({"erase", {{"block", 1}}}, rows);
  const StateVector& x = all[7];
  std::map<StateVector, double> counts, expected;
  for (const StateVector& z : all)
    for (int v = 0; v < 3; ++v) {
      StateVector filled = x;
      filled[v] = z[v];
      if (filled == z) expected[z] += 1.0 / 3 / static_cast<double>(variables.states(v));
    }
  ContrastiveBatch batch = FillWith(*sampled, RowOf(variables, x), 60000, 1, 4);
  for (int64_t i = 0; i < 60000; ++i) ++counts[VectorOf(variables, batch.Negatives(i))];
  EXPECT_TRUE(ChiSquareTest(counts, expected).Passes());
}

TEST(CategoryPerturbation, WhatChangesBitsOneByOneIsRefused) {
  const Variables variables = Mixed();
  const RowContext rows{.dimension = variables.dimension(), .variables = variables};
  for (const char* kind : {"bernoulli", "pool", "neighbourhood", "uniform+bernoulli"})
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { MakeNegatives(kind, rows); }, "method", "'colour' has 3 states",
        "uniform, ordered, cyclic");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { MakeNegatives("cyclic", rows); }, "there are none");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        MakeNegatives({"erase", {{"block", 4}}}, rows);
      },
      "3 variables");
  const auto method = MethodForCategories(variables);
  EXPECT_NO_THROW(MakeNegatives(method, rows));
}

// Of rows of bits nothing changes: a variable is a bit.
TEST(CategoryPerturbation, NamesAloneChangeNothing) {
  const Variables named({{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}});
  for (const Choice& method : {Choice("bernoulli"), Choice("grid"), Choice("erase", {{"block", 2}}),
                               Choice("uniform"), Choice("grid", {{"exact", true}})}) {
    const auto plain = MakeNegatives(method, {.dimension = 4});
    const auto described = MakeNegatives(method, {.dimension = 4, .variables = named});
    EXPECT_EQ(FillWith(*plain, {0, 1, 1, 0}, 100, 3, 5).rows,
              FillWith(*described, {0, 1, 1, 0}, 100, 3, 5).rows);
  }
}

}  // namespace
}  // namespace ort_ed
