#include "tests/trainer/negatives/perturbation_law.h"

#include <bit>
#include <cmath>
#include <numeric>

namespace ort_ed {
namespace {

// Whether the directed neighbourhood has y among the neighbours of x by one flip.
bool OneMoveLeads(const std::string& moves, State x, State y) {
  if (std::popcount(x ^ y) != 1) return false;
  const char move = moves[std::countr_zero(x ^ y)];
  return move == '*' || move == (y > x ? '+' : '-');
}

std::string PerCoordinate(const std::string& moves) {
  const std::map<std::string, char> words = {{"up", '+'}, {"down", '-'}, {"both", '*'}};
  const auto word = words.find(moves);
  return word == words.end() ? moves : std::string(4, word->second);
}

PerturbationLaw NewLaw(Choice method, int dimension, bool exact = false) {
  PerturbationLaw law;
  law.method = std::move(method);
  law.rows.dimension = law.dimension = dimension;
  law.any_exact = law.all_exact = exact;
  law.forward.resize(law.States());
  return law;
}

}  // namespace

std::vector<uint8_t> RowOf(State state, int dimension) {
  std::vector<uint8_t> row(dimension);
  for (int i = 0; i < dimension; ++i) row[i] = state >> i & 1;
  return row;
}

State StateOf(std::span<const uint8_t> row) {
  State state = 0;
  for (size_t i = 0; i < row.size(); ++i) state |= State{row[i]} << i;
  return state;
}

ContrastiveBatch EmptyBatch(const NegativeSource& source, int64_t positives, int64_t requested,
                            int64_t dimension) {
  const NegativeSource::Shape shape = source.shape(requested);
  return ContrastiveBatch(positives, shape.negatives, dimension, shape.weighted);
}

std::string PerturbationLaw::Name() const {
  std::string name = method.kind;
  for (char& c : name) {
    if (c == '+') c = '_';
  }
  for (const char c : label) {
    const std::map<char, char> letters = {{'+', 'u'}, {'-', 'd'}, {'*', 'b'}, {'.', 'n'}};
    const auto letter = letters.find(c);
    name += letter == letters.end() ? c : letter->second;
  }
  return any_exact ? name + "_exact" : name;
}

PerturbationLaw BernoulliLaw(int dimension, double epsilon) {
  PerturbationLaw law = NewLaw({"bernoulli", {{"epsilon", epsilon}}}, dimension);
  for (State x = 0; x < law.States(); ++x) {
    for (State y = 0; y < law.States(); ++y) {
      const int flips = std::popcount(x ^ y);
      const double probability = std::pow(epsilon, flips) * std::pow(1 - epsilon, dimension - flips);
      law.forward[x][static_cast<int>(y)] = probability;
      law.recovery[static_cast<int>(y)].push_back({x, probability, 1});
      law.volume[static_cast<int>(y)] = 1;
    }
  }
  return law;
}

PerturbationLaw PoolLaw(int height, int width, int window_height, int window_width) {
  const int dimension = height * width;
  const std::string window = std::to_string(window_height) + "x" + std::to_string(window_width);
  PerturbationLaw law = NewLaw({"pool", {{"window", window}}}, dimension);
  law.rows.image_shape = {height, width};
  for (State x = 0; x < law.States(); ++x) {
    std::map<std::pair<int, int>, int> ones;
    for (int i = 0; i < height; ++i) {
      for (int j = 0; j < width; ++j) {
        ones[{i / window_height, j / window_width}] += x >> (i * width + j) & 1;
      }
    }
    int y = 0;
    for (const auto& [block, count] : ones) y = y * (dimension + 1) + count;
    law.forward[x][y] = 1;
    law.recovery[y].push_back({x, 1, 1});
  }
  for (auto& [y, preimage] : law.recovery) {
    law.volume[y] = static_cast<double>(preimage.size());
    for (auto& recovery : preimage) recovery.probability = 1 / law.volume[y];
  }
  return law;
}

PerturbationLaw GridLaw(int dimension, bool exact) {
  PerturbationLaw law = NeighbourhoodLaw(std::string(dimension, '*'), false, exact);
  law.method = {"grid", {{"exact", exact}}};
  law.label.clear();
  return law;
}

PerturbationLaw NeighbourhoodLaw(const std::string& text, bool stay, bool exact) {
  const std::string moves = PerCoordinate(text);
  PerturbationLaw law = NewLaw({"neighbourhood", {{"moves", text}, {"stay", stay}, {"exact", exact}}},
                               static_cast<int>(moves.size()), exact);
  law.label = "_" + text + (stay ? "_stay" : "");
  std::vector<std::vector<State>> neighbours(law.States()), inverse(law.States());
  for (State x = 0; x < law.States(); ++x) {
    for (State y = 0; y < law.States(); ++y) {
      if (OneMoveLeads(moves, x, y)) neighbours[x].push_back(y);
    }
    if (stay || neighbours[x].empty()) neighbours[x].push_back(x);
    for (State y : neighbours[x]) inverse[y].push_back(x);
  }
  for (State x = 0; x < law.States(); ++x) {
    for (State y : neighbours[x]) law.forward[x][static_cast<int>(y)] = 1.0 / neighbours[x].size();
  }
  for (State y = 0; y < law.States(); ++y) {
    for (State x : inverse[y]) {
      law.recovery[static_cast<int>(y)].push_back(
          {x, 1.0 / inverse[y].size(), static_cast<double>(inverse[y].size()) / neighbours[x].size()});
    }
    law.volume[static_cast<int>(y)] = 1;
  }
  return law;
}

PerturbationLaw EraseLaw(int dimension, int block, bool exact) {
  PerturbationLaw law = NewLaw({"erase", {{"block", block}, {"exact", exact}}}, dimension, exact);
  law.label = "_" + std::to_string(block);
  std::vector<State> choices;
  for (State erased = 0; erased < law.States(); ++erased) {
    if (std::popcount(erased) == block) choices.push_back(erased);
  }
  const double fillings = std::exp2(block);
  for (const State erased : choices) {
    for (State x = 0; x < law.States(); ++x) {
      const auto y = static_cast<int>(erased << dimension | (x & ~erased));
      law.forward[x][y] = 1.0 / static_cast<double>(choices.size());
      law.recovery[y].push_back({x, 1 / fillings, 1});
      law.volume[y] = fillings / static_cast<double>(choices.size());
    }
  }
  return law;
}

PerturbationLaw MixtureLaw(Choice method, const std::vector<PerturbationLaw>& parts) {
  PerturbationLaw law = NewLaw(std::move(method), parts[0].dimension);
  law.all_exact = true;
  const auto count = static_cast<double>(parts.size());
  for (size_t k = 0; k < parts.size(); ++k) {
    const int first_y = static_cast<int>(k) << 20;  // parts have their y apart
    law.any_exact |= parts[k].any_exact;
    law.all_exact &= parts[k].all_exact;
    for (State x = 0; x < law.States(); ++x) {
      for (const auto& [y, q] : parts[k].forward[x]) law.forward[x][first_y + y] = q / count;
    }
    for (const auto& [y, recoveries] : parts[k].recovery) law.recovery[first_y + y] = recoveries;
    for (const auto& [y, volume] : parts[k].volume) law.volume[first_y + y] = volume / count;
  }
  return law;
}

PerturbationLaw BernoulliLevelsLaw(int dimension, double low, double high) {
  PerturbationLaw law = MixtureLaw({"bernoulli", {{"epsilon", std::vector{low, high}}}},
                                   {BernoulliLaw(dimension, low), BernoulliLaw(dimension, high)});
  law.label = "_levels";
  return law;
}

PerturbationLaw GridAndBernoulliLaw(int dimension, double epsilon, bool exact) {
  return MixtureLaw({"grid+bernoulli", {{"exact", exact}, {"epsilon", epsilon}}},
                    {GridLaw(dimension, exact), BernoulliLaw(dimension, epsilon)});
}

PerturbationLaw BernoulliAndNeighbourhoodLaw(double epsilon, const std::string& moves) {
  const PerturbationLaw neighbourhood = NeighbourhoodLaw(moves, false, false);
  return MixtureLaw({"bernoulli+neighbourhood", {{"epsilon", epsilon}, {"moves", moves}, {"stay", false}}},
                    {BernoulliLaw(neighbourhood.dimension, epsilon), neighbourhood});
}

std::vector<PerturbationLaw> SmallLaws() {
  return {
      BernoulliLaw(4, 0.2),
      PoolLaw(3, 2, 2, 2),
      GridLaw(4, false),
      GridLaw(4, true),
      NeighbourhoodLaw("up", true, false),
      NeighbourhoodLaw("up", true, true),
      NeighbourhoodLaw("down", false, false),
      NeighbourhoodLaw("+-*.", false, false),
      NeighbourhoodLaw("+-*.", false, true),
      NeighbourhoodLaw("both", true, false),
      EraseLaw(4, 1, true),
      EraseLaw(4, 2, false),
      EraseLaw(4, 2, true),
      BernoulliLevelsLaw(4, 0.1, 0.4),
      GridAndBernoulliLaw(4, 0.3, false),
      GridAndBernoulliLaw(4, 0.3, true),
      BernoulliAndNeighbourhoodLaw(0.2, "+-*."),
  };
}

std::vector<int> ConfusedClasses(const PerturbationLaw& law) {
  std::vector<int> classes(law.States());
  std::iota(classes.begin(), classes.end(), 0);
  bool changed = true;
  while (changed) {
    changed = false;
    for (const auto& [y, recoveries] : law.recovery) {
      int lowest = static_cast<int>(law.States());
      for (const auto& recovery : recoveries) lowest = std::min(lowest, classes[recovery.state]);
      for (const auto& recovery : recoveries) {
        changed |= classes[recovery.state] != lowest;
        classes[recovery.state] = lowest;
      }
    }
  }
  return classes;
}

double ContrastivePotential(const PerturbationLaw& law, const std::vector<double>& energy, int y) {
  double sum = 0;
  for (State x = 0; x < law.States(); ++x) {
    const auto found = law.forward[x].find(y);
    if (found != law.forward[x].end()) sum += found->second * std::exp(-energy[x]);
  }
  return -std::log(sum);
}

double ExactEnergyDiscrepancy(const PerturbationLaw& law, const std::vector<double>& data,
                              const std::vector<double>& energy) {
  double total = 0;
  for (State x = 0; x < law.States(); ++x) {
    for (const auto& [y, q] : law.forward[x]) {
      total += data[x] * q * (energy[x] - ContrastivePotential(law, energy, y));
    }
  }
  return total;
}

}  // namespace ort_ed
