// Draws of a learned base as the negatives of all rows of a step together: the refill of everything, which
// knows nothing of the row. Draws do not depend on the network, so that those of earlier steps serve again:
// a step makes some new ones and takes the others from the last that were made. Draw n depends on the seed
// and n alone, so that the store is no part of a checkpoint.

#include <algorithm>
#include <cmath>
#include <map>

#include "ort_ed/base_distribution.h"
#include "ort_ed/random.h"
#include "trainer/negatives/learned_base/require_base.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr uint32_t kChoicePurpose = 0x44525753;  // "DRWS": which of the kept draws a step takes
constexpr int64_t kAtOnce = 1024;                // draws: floats of all that are kept would take memory

class Draws final : public NegativeSource {
 public:
  struct Options {
    double fresh = 0.25;
    int64_t kept = 20000;

    static void Describe(Declare<Options>& declare) {
      declare("fresh", &Options::fresh, "(0, 1]", "share of a step's draws that are new");
      declare("kept", &Options::kept, "[1, 1e9]", "draws that are kept, of which a step takes the others");
    }
  };

  Draws(const Options& options, const RowContext& rows) : options_(options), base_(rows.base) {
    RequireLearnedBase(base_.get(), "draws");
  }

  Shape shape(int64_t requested) const override { return {requested, false}; }
  bool of_network_alone() const override { return true; }

  void Fill(const StepView& view, ContrastiveBatch& batch) override {
    const int64_t count = batch.positives * batch.negatives;
    const int64_t fresh = std::max<int64_t>(1, std::llround(options_.fresh * static_cast<double>(count)));
    const int64_t end = count + view.step * fresh + view.first_row * batch.negatives;
    const int64_t first = std::max<int64_t>(0, end - std::max(options_.kept, count));
    const uint8_t* const kept = Keep(view.seed, first, end, batch.dimension);
    RandomStream random(view.seed, kChoicePurpose, static_cast<uint64_t>(view.step),
                        static_cast<uint64_t>(view.first_row));
    const int64_t old = end - fresh - first;
    for (int64_t i = 0, n = 0; i < batch.positives; ++i) {
      auto to = batch.Negatives(i).begin();
      for (int64_t j = 0; j < batch.negatives; ++j, ++n) {
        const int64_t from = n < fresh ? old + n : random.Below(static_cast<uint32_t>(old));
        to = std::copy_n(kept + from * batch.dimension, batch.dimension, to);
      }
    }
  }

  OptionMap Describe(double) const override { return {{"fresh", options_.fresh}, {"kept", options_.kept}}; }

 private:
  struct Store {
    int64_t first = 0, end = 0;  // numbers of the draws
    std::vector<uint8_t> rows;
  };

  // Draws from number `first` to `end`. Those before are dropped when they are more than the others, since
  // that moves all that are kept.
  const uint8_t* Keep(uint64_t seed, int64_t first, int64_t end, int64_t dimension) {
    Store& store = stores_[seed];
    if (first < store.first || first > store.end) store = {.first = first, .end = first, .rows = {}};
    if (first - store.first > end - first) {
      store.rows.erase(store.rows.begin(), store.rows.begin() + (first - store.first) * dimension);
      store.first = first;
    }
    while (store.end < end) {
      const int64_t count = std::min(kAtOnce, end - store.end);
      for (const float bit : base_->DrawRows(seed, static_cast<uint64_t>(store.end), count))
        store.rows.push_back(static_cast<uint8_t>(bit));
      store.end += count;
    }
    return store.rows.data() + (first - store.first) * dimension;
  }

  Options options_;
  std::shared_ptr<const BaseDistribution> base_;
  std::map<uint64_t, Store> stores_;  // by seed: that of the training, and that of its validation
};

}  // namespace

extern const NegativeKind kDrawsNegatives;
const NegativeKind kDrawsNegatives = SourceKind<Draws>(
    "draws", "draws of a learned base, which all rows of a step share", "shared-discrepancy", RowKind::kAny);

}  // namespace ort_ed
