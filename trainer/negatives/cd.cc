// Contrastive divergence (Hinton 2002): chains start at the rows of the batch in every step, and their last
// states are the negatives. A few steps leave them near the data: cheap, and biased.

#include <algorithm>

#include "trainer/negatives/model_chains.h"

namespace ort_ed {
namespace {

class ContrastiveDivergenceChains final : public ModelChains {
 public:
  using Options = ChainOptions;
  using ModelChains::ModelChains;

  void Fill(const StepView& view, ContrastiveBatch& batch) override {
    States states;
    for (int64_t i = 0; i < batch.positives; ++i)
      for (int64_t j = 0; j < batch.negatives; ++j) {
        const auto row = batch.Positive(i);
        states.chains.insert(states.chains.end(), row.begin(), row.end());
      }
    Advance(view, states);
    auto state = states.chains.begin();
    for (int64_t i = 0; i < batch.positives; ++i)
      for (uint8_t& bit : batch.Negatives(i)) bit = static_cast<uint8_t>(*state++);
  }
};

}  // namespace

extern const NegativeKind kCdNegatives;
const NegativeKind kCdNegatives = SourceKind<ContrastiveDivergenceChains>(
    "cd", "samples of the model by chains that start at the rows", "contrastive-divergence", RowKind::kAny);

}  // namespace ort_ed
