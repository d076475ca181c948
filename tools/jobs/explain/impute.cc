#include "tools/jobs/explain/impute.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ort_ed/sampler.h"
#include "tools/jobs/explain/conditionals.h"
#include "tools/jobs/sample/chains.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

constexpr int64_t kRecords = 10;  // of each chain

// Rows whose chains run at once.
int64_t BlockRows(int64_t dimension, int64_t chains) {
  constexpr int64_t kValues = int64_t{1} << 22;
  return std::max<int64_t>(1, kValues / dimension / chains);
}

// Sums over the records of each chain, for every bit.
using ChainSums = std::vector<double>;

class Imputer {
 public:
  Imputer(const LoadedModel& model, const ImputeOptions& options, Observer& observer)
      : options_(options),
        dimension_(model.dimension()),
        energy_(model, ModelFor(model, options.sampler), options.threads, observer),
        path_(energy_.get(), MakeBaseDistribution(energy_.model(), options.threads)),
        conditionals_(path_.energy),
        sampler_(MakeSampler(options.sampler, path_, options.threads)) {}

  // Fills in the probabilities of a block of rows and counts them in the result.
  std::vector<float> Fill(std::span<const uint8_t> rows, int64_t first_row, ImputeResult& result,
                          const std::function<void()>& look) {
    std::vector<float> filled(rows.begin(), rows.end());
    const int64_t count = std::ssize(rows) / dimension_;
    if (std::ranges::find(rows, kMissingValue) == rows.end()) return filled;
    Chains chains = Start(rows, first_row);
    const std::vector<uint8_t> missing = Missing(chains);
    const ChainSums sums = Run(chains, missing, look);
    for (int64_t row = 0; row < count; ++row)
      for (int64_t i = 0; i < dimension_; ++i)
        if (rows[static_cast<size_t>(row * dimension_ + i)] == kMissingValue)
          filled[static_cast<size_t>(row * dimension_ + i)] = MeanOfChains(sums, row, i, result);
    for (int64_t row = 0; row < count; ++row)
      for (int64_t v = 0; v < variables().size(); ++v)
        if (rows[static_cast<size_t>(row * dimension_ + variables().first_bit(v))] == kMissingValue)
          ++result.missing;
    return filled;
  }

  int64_t probabilities() const { return probabilities_; }  // computed so far

 private:
  const Variables& variables() const { return conditionals_.variables(); }

  // The chains of a row stand one after the other; those of the whole file are numbered through.
  Chains Start(std::span<const uint8_t> rows, int64_t first_row) const {
    const int64_t count = std::ssize(rows) / dimension_ * options_.chains;
    const auto first_chain = static_cast<uint64_t>(first_row * options_.chains);
    std::vector<float> states = path_.base->DrawRows(options_.seed, first_chain, count);
    std::vector<uint8_t> clamped(states.size());
    for (size_t at = 0; at < states.size(); ++at) {
      const size_t chain = at / static_cast<size_t>(dimension_);
      const size_t row = chain / static_cast<size_t>(options_.chains);
      const uint8_t given =
          rows[row * static_cast<size_t>(dimension_) + at % static_cast<size_t>(dimension_)];
      clamped[at] = given != kMissingValue;
      if (clamped[at] != 0) states[at] = given;
    }
    Chains chains = StartChainsAt(path_, std::move(states), options_.seed, first_chain);
    chains.clamped = std::move(clamped);
    return chains;
  }

  static std::vector<uint8_t> Missing(const Chains& chains) {
    std::vector<uint8_t> missing;
    for (const uint8_t kept : chains.clamped) missing.push_back(kept == 0);
    return missing;
  }

  ChainSums Run(Chains& chains, const std::vector<uint8_t>& missing, const std::function<void()>& look) {
    ChainSums sums(chains.states.size());
    std::vector<double> energies(static_cast<size_t>(chains.count)), changes(chains.states.size());
    int64_t done = 0;
    for (int64_t record = 1; record <= kRecords; ++record) {
      const int64_t next = options_.steps / 2 + (options_.steps - options_.steps / 2) * record / kRecords;
      AdvanceChains(*sampler_, chains, next - done, pace_, [&](int64_t) { return look(), true; });
      done = next;
      conditionals_.Compute(chains.states, missing, energies, changes, [&](int64_t) { look(); });
      for (size_t first = 0; first < sums.size(); first += static_cast<size_t>(dimension_))
        for (int64_t v = 0; v < variables().size(); ++v)
          if (missing[first + static_cast<size_t>(variables().first_bit(v))] != 0)
            AddProbabilities(v, &chains.states[first], &changes[first], &sums[first]);
    }
    return sums;
  }

  // Of every bit of a variable, to the sums of one chain.
  void AddProbabilities(int64_t variable, const float* row, const double* changes, double* sums) const {
    const int64_t bit = variables().first_bit(variable);
    if (variables().bits(variable) == 1) {
      const double p = std::exp(LogConditional(changes[bit]));
      sums[bit] += row[bit] != 0 ? p : 1 - p;
      return;
    }
    const std::vector<double> all = LogConditionals(variables(), variable, row, changes);
    for (size_t k = 0; k < all.size(); ++k) sums[bit + static_cast<int64_t>(k)] += std::exp(all[k]);
  }

  float MeanOfChains(const ChainSums& sums, int64_t row, int64_t bit, ImputeResult& result) {
    const auto n = static_cast<double>(options_.chains);
    double sum = 0, squares = 0;
    const auto of_chain = [&](int64_t chain) {
      return sums[static_cast<size_t>((row * options_.chains + chain) * dimension_ + bit)] / kRecords;
    };
    for (int64_t chain = 0; chain < options_.chains; ++chain) sum += of_chain(chain);
    for (int64_t chain = 0; chain < options_.chains; ++chain)
      squares += std::pow(of_chain(chain) - sum / n, 2);
    const double error = std::sqrt(squares / (n - 1) / n);
    ++probabilities_;
    result.mean_standard_error += error;
    result.worst_standard_error = std::max(result.worst_standard_error, error);
    return static_cast<float>(sum / n);
  }

  const ImputeOptions& options_;
  int64_t dimension_;
  ModelEnergy energy_;
  EnergyPath path_;
  Conditionals conditionals_;
  std::unique_ptr<Sampler> sampler_;
  Pace pace_;
  int64_t probabilities_ = 0;
};

}  // namespace

void ImputeOptions::Describe(Declare<ImputeOptions>& declare) {
  using Self = ImputeOptions;
  declare("chains", &Self::chains, "[2, 1e6]", "independent chains of each row");
  declare(
      "steps", &Self::steps, "[10, 1e12]",
      "of each chain, of which the first half is not used; a step of gibbs is a sweep over all variables");
  declare("sampler", &Self::sampler, SamplerTable, "how chains move");
  declare("seed", &Self::seed, "[0, inf)",
          "the same seed gives the same probabilities, whatever the number of threads");
  declare("threads", &Self::threads, "[0, inf)", "threads; 0: all cores");
}

ImputeResult Impute(const LoadedModel& model, RowReader& rows, const ImputeOptions& options,
                    RowWriter<float>& output, Observer& observer) {
  CheckOptions(options);
  const Stopwatch stopwatch;
  const int64_t dimension = model.dimension();
  Imputer imputer(model, options, observer);
  ImputeResult result;
  const auto watch = Watch(observer, "filling in", "rows");
  const auto look = [&] { watch(result.rows, rows.rows().value_or(0)); };
  std::vector<uint8_t> block(static_cast<size_t>(BlockRows(dimension, options.chains) * dimension));
  while (const int64_t count = rows.Read(block)) {
    const auto values = std::span(block).first(static_cast<size_t>(count * dimension));
    output.Write(imputer.Fill(values, result.rows, result, look));
    result.rows += count;
    look();
  }
  if (result.missing == 0)
    throw Error(ErrorCode::kBadData,
                "no value is missing, so there is nothing to fill in; leave cells empty (or NaN) that are to "
                "be filled");
  result.mean_standard_error /= static_cast<double>(imputer.probabilities());
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
