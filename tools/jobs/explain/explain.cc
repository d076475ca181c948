#include "tools/jobs/explain/explain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/jobs/explain/conditionals.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

// Rows that are explained at once.
int64_t BlockRows(int64_t dimension) {
  constexpr int64_t kValues = int64_t{1} << 18;
  return std::max<int64_t>(1, kValues / dimension);
}

// The numbers of the variables that surprise most.
std::vector<size_t> MostSurprising(const RowExplanation& row, int64_t count) {
  std::vector<size_t> order(row.log_probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return std::isnan(row.log_probabilities[i]); });
  const auto end = order.begin() + std::min<std::ptrdiff_t>(count, std::ssize(order));
  std::partial_sort(order.begin(), end, order.end(), [&](size_t a, size_t b) {
    return std::pair(row.log_probabilities[a], a) < std::pair(row.log_probabilities[b], b);
  });
  order.erase(end, order.end());
  return order;
}

// Explains blocks of rows and keeps what is told of all of them.
class Explainer {
 public:
  Explainer(const Conditionals& conditionals, const ExplainOptions& options, const ExplanationSink& sink)
      : conditionals_(conditionals), options_(options), sink_(sink) {}

  void Add(std::span<const uint8_t> rows, ExplainResult& result,
           const std::function<void(int64_t rows)>& look) {
    const auto dimension = static_cast<size_t>(variables().dimension());
    const std::vector<float> values(rows.begin(), rows.end());
    std::vector<double> energies(rows.size() / dimension);
    std::vector<double> changes(rows.size());
    conditionals_.Compute(values, {}, energies, changes, look);
    result.mean_log_probabilities.resize(static_cast<size_t>(variables().size()));
    for (size_t row = 0; row < energies.size(); ++row)
      Explain(values.data() + row * dimension, energies[row], changes.data() + row * dimension, result);
  }

  int64_t not_known() const { return not_known_; }

 private:
  const Variables& variables() const { return conditionals_.variables(); }

  void Explain(const float* row, double energy, const double* changes, ExplainResult& result) {
    RowExplanation explanation{.row = result.rows++,
                               .energy = energy,
                               .log_pseudo_likelihood = 0,
                               .values = {},
                               .log_probabilities = {},
                               .top = {}};
    for (int64_t v = 0; v < variables().size(); ++v) {
      const int64_t state = variables().State(row, v);
      const double log_probability =
          LogConditionals(variables(), v, row, changes)[static_cast<size_t>(state)];
      not_known_ += std::isnan(log_probability);
      explanation.values.push_back(state);
      explanation.log_pseudo_likelihood += log_probability;
      explanation.log_probabilities.push_back(static_cast<float>(log_probability));
      result.mean_log_probabilities[static_cast<size_t>(v)] += log_probability;
    }
    for (const size_t variable : MostSurprising(explanation, options_.top))
      explanation.top.push_back(Describe(static_cast<int64_t>(variable), row, changes));
    sink_(explanation);
  }

  Surprise Describe(int64_t variable, const float* row, const double* changes) const {
    const std::vector<double> all = LogConditionals(variables(), variable, row, changes);
    const int64_t state = variables().State(row, variable);
    const auto best = std::ranges::max_element(all);
    const int64_t expected = *best > all[static_cast<size_t>(state)] ? best - all.begin() : state;
    return {.variable = variable,
            .value = state,
            .log_probability = all[static_cast<size_t>(state)],
            .expected = expected,
            .expected_probability = std::exp(all[static_cast<size_t>(expected)])};
  }

  const Conditionals& conditionals_;
  const ExplainOptions& options_;
  const ExplanationSink& sink_;
  int64_t not_known_ = 0;
};

}  // namespace

void ExplainOptions::Describe(Declare<ExplainOptions>& declare) {
  using Self = ExplainOptions;
  declare("top", &Self::top, "[1, inf)", "variables told of each row, the most surprising first");
  declare("threads", &Self::threads, "[0, inf)", "threads; 0: all cores");
}

ExplainResult Explain(const LoadedModel& model, RowReader& rows, const ExplainOptions& options,
                      const ExplanationSink& sink, Observer& observer) {
  CheckOptions(options);
  const Stopwatch stopwatch;
  const int64_t dimension = model.dimension();
  std::vector<uint8_t> block(static_cast<size_t>(BlockRows(dimension) * dimension));
  int64_t count = rows.Read(block);
  const bool more = count == BlockRows(dimension);
  const Conditionals conditionals(model, more ? 0 : count, options.threads, observer);
  const auto watch = Watch(observer, "explaining", "rows");
  ExplainResult result;
  result.quadratic = conditionals.quadratic();
  Explainer explainer(conditionals, options, sink);
  for (; count > 0; count = rows.Read(block)) {
    const int64_t before = result.rows;
    explainer.Add(std::span(block).first(static_cast<size_t>(count * dimension)), result,
                  [&](int64_t done) { watch(before + done, rows.rows().value_or(0)); });
  }
  if (result.rows == 0)
    throw Error(ErrorCode::kBadData, "the data holds no rows; there is nothing to explain");
  for (double& mean : result.mean_log_probabilities) mean /= static_cast<double>(result.rows);
  if (explainer.not_known() > 0)
    Warn(fmt::format("{} of {} conditional probabilities are not known, since either value has infinite "
                     "energy; they are left out of what surprises",
                     explainer.not_known(), result.rows * conditionals.variables().size()),
         result, observer);
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
