// Grid neighbourhood (the paper, section C.3): y is x with one bit flipped, the recoveries are y with one bit
// flipped. All states have D neighbours, so no weights. Where variables have more states, one of them changes
// to any other of its states; all states have as many neighbours again. Sampled: M independent recoveries of
// y. Exact: all D of them, so that the contrastive potential of y has no Monte-Carlo error and, with w = 0,
// the loss is an unbiased estimate of the energy discrepancy; y itself is still drawn, since averaging over
// it as well costs another factor of D that is better spent on more data.

#include <algorithm>

#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

class GridPerturbation final : public Perturbation {
 public:
  struct Options {
    bool exact = false;
    static void Describe(Declare<Options>& declare) {
      declare("exact", &Options::exact, "", "all negatives instead of drawn ones");
    }
  };

  GridPerturbation(const Options& options, const RowContext& rows)
      : variables_(VariablesOf(rows)), exact_(options.exact) {
    for (int64_t v = 0; v < variables_.size(); ++v)
      for (int64_t turn = 1; turn < variables_.states(v); ++turn) moves_.push_back({v, turn});
  }

  int64_t NegativesPerRow(int64_t requested) const override {
    return exact_ ? std::ssize(moves_) : requested;
  }

  bool Enumerates() const override { return exact_; }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float>) const override {
    const size_t dimension = positive.size();
    const auto moves = static_cast<uint32_t>(moves_.size());
    const uint32_t first = random.Below(moves);
    for (uint32_t j = 0; !negatives.empty(); ++j, negatives = negatives.subspan(dimension)) {
      std::copy(positive.begin(), positive.end(), negatives.begin());
      Make(moves_[first], negatives.data());
      Make(moves_[exact_ ? j : random.Below(moves)], negatives.data());
    }
  }

 private:
  // To the state that lies `turn` states further, around the end.
  struct Move {
    int64_t variable, turn;
  };

  void Make(const Move& move, uint8_t* row) const {
    if (variables_.bits(move.variable) == 1) {
      row[variables_.first_bit(move.variable)] ^= 1;
    } else {
      const int64_t state = variables_.State(row, move.variable) + move.turn;
      variables_.SetState(row, move.variable, state % variables_.states(move.variable));
    }
  }

  Variables variables_;
  bool exact_;
  std::vector<Move> moves_;
};

}  // namespace

extern const NegativeKind kGridNegatives;
const NegativeKind kGridNegatives = PerturbationKind<GridPerturbation>(
    "grid", "one variable changes; exact: all recoveries are enumerated", RowKind::kAny);

}  // namespace ort_ed
