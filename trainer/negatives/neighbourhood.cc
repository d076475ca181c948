// Directed neighbourhood over coordinates (the paper, section C.4). `moves` says in which direction each bit
// may flip; N(x) holds every state that one allowed flip leads to, and x itself if `stay` or if no flip is
// allowed (so N(x) is never empty). q(y|x) is uniform on N(x). The inverse N'(y), the states that have y as a
// neighbour, is found by allowed flips backwards, and
//   U_N(y) = -log 1/K'_y sum over x' in N'(y) of omega exp(-U(x')),  omega = K'_y / K_x',
// with K_x = |N(x)| and K'_y = |N'(y)|. Sampled: M independent x' uniform on N'(y). Exact: all of N'(y);
// since K'_y varies with y the rest of the M rows repeats y with a weight of zero, and omega takes M for
// K'_y.

#include <algorithm>
#include <cmath>

#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

struct Move {
  bool up = false;
  bool down = false;

  bool AllowedFrom(uint8_t value) const { return value ? down : up; }
  bool AllowedTo(uint8_t value) const { return value ? up : down; }
};

std::vector<Move> ParseMoves(const std::string& text, int64_t dimension) {
  const auto count = static_cast<size_t>(dimension);
  if (text == "up") return std::vector<Move>(count, Move{true, false});
  if (text == "down") return std::vector<Move>(count, Move{false, true});
  if (text == "both") return std::vector<Move>(count, Move{true, true});
  std::vector<Move> moves;
  for (char c : text) {
    if (std::string("+-*.").find(c) == std::string::npos) break;
    moves.push_back({c == '+' || c == '*', c == '-' || c == '*'});
  }
  if (moves.size() != text.size() || moves.size() != count) {
    throw OptionError("moves", "must be up, down, both, or one of + - * . for each of the " +
                                   std::to_string(dimension) + " variables of a row, not '" + text + "'");
  }
  if (std::ranges::none_of(moves, [](Move move) { return move.up || move.down; })) {
    throw OptionError("moves", "must let some variable change; use + - or * at least once");
  }
  return moves;
}

class NeighbourhoodPerturbation final : public Perturbation {
 public:
  struct Options {
    bool exact = false;
    std::string moves = "up";
    bool stay = true;

    static void Describe(Declare<Options>& declare) {
      declare("exact", &Options::exact, "", "all negatives instead of drawn ones");
      declare("moves", &Options::moves, "MOVES",
              "up (0 to 1), down, both, or one of + - * . for each variable");
      declare("stay", &Options::stay, "", "a state is its own neighbour");
    }
  };

  NeighbourhoodPerturbation(const Options& options, const RowContext& rows)
      : moves_(ParseMoves(options.moves, rows.dimension)), stay_(options.stay), exact_(options.exact) {}

  bool Enumerates() const override { return exact_; }

  bool Weighted() const override { return true; }

  int64_t NegativesPerRow(int64_t requested) const override {
    return exact_ ? 1 + std::ranges::count_if(moves_, [](Move move) { return move.up || move.down; })
                  : requested;
  }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float> log_weights) const override {
    const std::vector<uint8_t> y = Neighbour(random, positive);
    const uint32_t moves_from_y = MovesFrom(y);
    std::vector<uint32_t> flips;  // that lead back to N'(y)
    for (uint32_t i = 0; i < y.size(); ++i) {
      if (moves_[i].AllowedTo(y[i])) flips.push_back(i);
    }
    const auto inverse_size = static_cast<uint32_t>(flips.size()) + IsOwnNeighbour(moves_from_y);
    const auto negative_count = static_cast<uint32_t>(log_weights.size() - 1);
    const uint32_t numerator = exact_ ? negative_count : inverse_size;

    log_weights[0] = LogRatio(numerator, MovesFrom(positive));
    for (uint32_t j = 0; j < negative_count; ++j, negatives = negatives.subspan(y.size())) {
      std::ranges::copy(y, negatives.begin());
      const uint32_t choice = exact_ ? j : random.Below(inverse_size);
      if (choice >= inverse_size) {
        log_weights[1 + j] = kLogOfZero;
      } else if (choice == flips.size()) {
        log_weights[1 + j] = LogRatio(numerator, moves_from_y);
      } else {
        const uint32_t i = flips[choice];
        negatives[i] ^= 1;
        log_weights[1 + j] = LogRatio(numerator, moves_from_y + 1 - moves_[i].AllowedFrom(y[i]));
      }
    }
  }

 private:
  uint32_t MovesFrom(std::span<const uint8_t> x) const {
    uint32_t count = 0;
    for (size_t i = 0; i < x.size(); ++i) count += moves_[i].AllowedFrom(x[i]);
    return count;
  }

  bool IsOwnNeighbour(uint32_t moves) const { return stay_ || moves == 0; }

  float LogRatio(uint32_t numerator, uint32_t moves_from_x) const {
    const uint32_t neighbours = moves_from_x + IsOwnNeighbour(moves_from_x);
    return static_cast<float>(std::log(static_cast<double>(numerator) / neighbours));
  }

  std::vector<uint8_t> Neighbour(RandomStream& random, std::span<const uint8_t> x) const {
    std::vector<uint8_t> y(x.begin(), x.end());
    const uint32_t moves = MovesFrom(x);
    uint32_t choice = random.Below(moves + IsOwnNeighbour(moves));
    for (size_t i = 0; i < x.size(); ++i) {
      if (!moves_[i].AllowedFrom(x[i])) continue;
      if (choice-- == 0) {
        y[i] ^= 1;
        break;
      }
    }
    return y;
  }

  std::vector<Move> moves_;
  bool stay_;
  bool exact_;
};

}  // namespace

extern const NegativeKind kNeighbourhoodNegatives;
const NegativeKind kNeighbourhoodNegatives = PerturbationKind<NeighbourhoodPerturbation>(
    "neighbourhood", "one bit flips in a direction that is allowed for it");

}  // namespace ort_ed
