// Maximum likelihood, for models that are normalised: no negatives at all.

#include "trainer/negatives/likelihood.h"

#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

class NoNegatives final : public NegativeSource {
 public:
  using Options = LikelihoodOptions;

  NoNegatives(const Options& options, const RowContext&) : options_(options) {}

  Shape shape(int64_t) const override { return {.negatives = 0, .weighted = false}; }
  bool is_row_by_row() const override { return true; }
  void Fill(const StepView&, ContrastiveBatch&) override {}
  OptionMap Describe(double) const override {
    OptionMap description = {{"dropout", options_.dropout}};
    if (options_.view_dropout > 0) description["view_dropout"] = options_.view_dropout;
    return description;
  }

 private:
  Options options_;
};

}  // namespace

void LikelihoodOptions::Describe(Declare<LikelihoodOptions>& declare) {
  declare("dropout", &LikelihoodOptions::dropout, "[0, 1)", "share of the hidden units left out of each row");
  declare("view_dropout", &LikelihoodOptions::view_dropout, "[0, 1)",
          "share of the features of a view left out of each row");
}

extern const NegativeKind kLikelihoodNegatives;
const NegativeKind kLikelihoodNegatives = SourceKind<NoNegatives>(
    "likelihood", "none: maximum likelihood of a normalised model (made)", "likelihood", RowKind::kAny);

}  // namespace ort_ed
