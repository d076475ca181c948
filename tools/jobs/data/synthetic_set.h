#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/options.h"
#include "runtime/data/planar.h"
#include "tools/jobs/data/row_source.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// Rows that are drawn, not read. Row i of a seed is always the same, however many are drawn.
class SyntheticSet {
 public:
  using Consumer = std::function<void(std::span<const uint8_t> rows)>;

  virtual ~SyntheticSet() = default;
  virtual int64_t columns() const = 0;
  virtual std::string DescribeRow() const = 0;  // "100 spins"

  // Hands rows 0, 1, ... to `consume`, many at a time. Throws kInterrupted where the observer asks to stop.
  virtual void Draw(int64_t rows, uint64_t seed, const Consumer& consume, Observer& observer) const = 0;

  // The same rows without an end, of kinds that are endless; else null.
  virtual std::unique_ptr<RowSource> Endless(uint64_t /*seed*/) const { return nullptr; }
  // What the bits of a row stand for, of kinds that have points.
  virtual PlanarPoint Point(uint64_t /*seed*/, int64_t /*row*/) const { return {}; }
  // J of p(s) ~ exp(s'Js), columns() x columns(), of kinds that have couplings.
  virtual std::vector<double> Couplings() const { return {}; }
};

struct SyntheticKind {
  std::string name;
  std::string summary;
  const Schema& (*schema)();
  std::unique_ptr<SyntheticSet> (*make)(const SyntheticKind& kind, const OptionMap& options, int threads);
  bool endless = false;
  bool has_points = false;
  bool has_couplings = false;
  bool uses_threads = false;
};

// The table of kinds.
std::span<const SyntheticKind> SyntheticSets();
KindTable SyntheticTable();
// The kinds with a trait, "moons|pinwheel", as Declare's When() wants them.
std::string SyntheticNames(bool SyntheticKind::*trait);

// `threads`: 0 is all cores; the rows do not depend on it. Throws OptionError, of `key` for an unknown name.
std::unique_ptr<SyntheticSet> MakeSyntheticSet(const Choice& choice, int threads = 0,
                                               const std::string& key = "name");

// Whether the option `data` names a synthetic set, synth:NAME, and no file.
bool IsSynthetic(const std::string& data);

// "synth:pinwheel" or "synth:ising:shape=4x4,sigma=0.2,rows=100,steps=1000".
struct SyntheticData {
  Choice set;
  std::optional<int64_t> rows = 2000;  // none: it is endless
};
// Throws OptionError of `data`: names and values are checked.
SyntheticData ParseSynthetic(const std::string& data);

}  // namespace ort_ed
