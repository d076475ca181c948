// Refilling (an energy discrepancy in the sense of the paper's section 2, with a learned base): y is x
// without what the base draws from some position on, and the recoveries are draws of the base given the rest.
// With U = net - log p0 the contrastive potential is -log E[exp(-net(x'))], x' ~ p0(. | y), but for what y
// alone decides: the loss is that of the network without its base, and negatives look as real as the base can
// make them.
//
// Where the base is a mixture 1/K sum_k p_k of networks with orders of their own, y = (k, what is left of x
// in the order of network k), with k ~ p(k | x) = p_k(x) / sum_j p_j(x), once for all recoveries of x. Since
// p0(x) p(k | x) = p_k(x) / K, the states x' that y may come from weigh
//   sum over x' of p0(x') exp(-net(x')) p(k | x') = 1/K sum over x' of p_k(x') exp(-net(x')),
// all that agree with y: a factor of y alone times E[exp(-net(x'))] with x' ~ p_k(. | y). So the potential
// has the same form, with recoveries that network k draws.

#include <algorithm>

#include "ort_ed/options.h"
#include "ort_ed/random.h"
#include "trainer/negatives/learned_base/require_base.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr uint32_t kStartPurpose = 0x52464C53;    // "RFLS": from where on a row is erased
constexpr uint32_t kNetworkPurpose = 0x52464C4E;  // "RFLN": in whose order
constexpr uint32_t kRefillPurpose = 0x52464C4C;   // "RFLL": what comes there

class Refill final : public NegativeSource {
 public:
  struct Options {
    std::optional<int64_t> shortest = {}, longest = {};

    static void Describe(Declare<Options>& declare) {
      declare("shortest", &Options::shortest, "[1, inf)", "fewest variables that are erased").Default("1");
      declare("longest", &Options::longest, "[1, inf)", "most variables that are erased").Default("all");
    }
  };

  Refill(const Options& options, const RowContext& rows)
      : base_(rows.base),
        variables_(VariablesOf(rows).size()),
        shortest_(options.shortest.value_or(1)),
        longest_(options.longest.value_or(variables_)) {
    RequireLearnedBase(base_.get(), "refill");
    if (longest_ > variables_)
      throw OptionError("longest", "must be at most the " + std::to_string(variables_) +
                                       " variables of a row, not " + std::to_string(longest_));
    if (shortest_ > longest_)
      throw OptionError("shortest", "must not exceed longest, " + std::to_string(longest_));
  }

  Shape shape(int64_t requested) const override { return {requested, false}; }
  bool is_row_by_row() const override { return true; }
  bool of_network_alone() const override { return true; }

  void Fill(const StepView& view, ContrastiveBatch& batch) override {
    const auto step = static_cast<uint64_t>(view.step);
    const std::vector<int32_t> drawn = DrawNetworks(view, batch);
    std::vector<int64_t> starts;
    std::vector<int32_t> networks;
    std::vector<float> rows;
    rows.reserve(static_cast<size_t>(batch.positives * batch.negatives * batch.dimension));
    for (int64_t i = 0; i < batch.positives; ++i) {
      RandomStream random(view.seed, kStartPurpose, step, static_cast<uint64_t>(view.first_row + i));
      const auto choices = static_cast<uint32_t>(longest_ - shortest_ + 1);
      const int64_t start = variables_ - shortest_ - random.Below(choices);
      for (int64_t j = 0; j < batch.negatives; ++j) {
        starts.push_back(start);
        networks.push_back(drawn[i]);
        rows.insert(rows.end(), batch.Positive(i).begin(), batch.Positive(i).end());
      }
    }
    base_->autoregressive()->Refill({.seed = view.seed,
                                     .purpose = kRefillPurpose,
                                     .step = step,
                                     .first_row = static_cast<uint64_t>(view.first_row * batch.negatives)},
                                    starts, rows, networks);
    auto value = rows.begin();
    for (int64_t i = 0; i < batch.positives; ++i)
      for (uint8_t& bit : batch.Negatives(i)) bit = static_cast<uint8_t>(*value++);
  }

  OptionMap Describe(double) const override { return {{"shortest", shortest_}, {"longest", longest_}}; }

 private:
  std::vector<int32_t> DrawNetworks(const StepView& view, ContrastiveBatch& batch) const {
    std::vector<float> rows;
    rows.reserve(static_cast<size_t>(batch.positives * batch.dimension));
    for (int64_t i = 0; i < batch.positives; ++i)
      rows.insert(rows.end(), batch.Positive(i).begin(), batch.Positive(i).end());
    return base_->autoregressive()->DrawNetworks({.seed = view.seed,
                                                  .purpose = kNetworkPurpose,
                                                  .step = static_cast<uint64_t>(view.step),
                                                  .first_row = static_cast<uint64_t>(view.first_row)},
                                                 rows);
  }

  std::shared_ptr<const BaseDistribution> base_;
  int64_t variables_, shortest_, longest_;
};

}  // namespace

extern const NegativeKind kRefillNegatives;
const NegativeKind kRefillNegatives =
    SourceKind<Refill>("refill", "draws of a learned base in the place of what it draws last",
                       "energy-discrepancy", RowKind::kAny);

}  // namespace ort_ed
