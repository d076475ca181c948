#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/device.h"
#include "ort_ed/energy_function.h"
#include "ort_ed/options.h"
#include "ort_ed/variables.h"
#include "runtime/support/collective.h"
#include "trainer/learner/state_tensor.h"
#include "trainer/negatives/contrastive_batch.h"

namespace ort_ed {

// What a source of negatives may look at in one step.
struct StepView {
  uint64_t seed = 0;
  int64_t step = 0;                        // steps done before this one
  int64_t first_row = 0;                   // number of the batch's first row among those of the step
  double progress = 1;                     // of the whole training: 0 at the first step, 1 at the last
  const EnergyFunction* energy = nullptr;  // of the network as it is now; in Fill(), where needs().energy
  Collective* processes = nullptr;         // that make the negatives together; null: this one alone
};

// Where the negatives of a training come from: noise around the data, chains that persist, or a network of
// its own. A source lives as long as the run.
class NegativeSource {
 public:
  // Negatives per row, and whether they carry weights log omega (the paper's section C.4).
  struct Shape {
    int64_t negatives = 1;
    bool weighted = false;
  };
  struct Needs {
    bool energy = false;
    bool gradient = false;
    bool of_all = false;             // a gradient that sees all that the model does with x
    const char* option = "sampler";  // that asks for the gradient, and what a model without one can do
    const char* instead = "`sampler_gradient` differences or the sampler gibbs does without";
  };

  virtual ~NegativeSource() = default;

  // Where the user asks for `requested` negatives per row: an enumeration has its own number.
  virtual Shape shape(int64_t requested) const = 0;
  // Whether the negatives are all there are, so that the positive is one of them and w = 0 is right.
  virtual bool enumerates() const { return false; }
  virtual Needs needs() const { return {}; }
  // Whether the negatives of a row depend on (seed, step, row) and the network alone, so that a process may
  // make those of some rows of a step. Another source is given all rows in every process.
  virtual bool is_row_by_row() const { return false; }
  // Whether the loss is that of the network without its base distribution.
  virtual bool of_network_alone() const { return false; }

  // Draws the negatives, and log omega where there is one, of every positive of the batch.
  virtual void Fill(const StepView& view, ContrastiveBatch& batch) = 0;
  // A step of the source's own, after the energy's.
  virtual void Learn(const StepView&, const ContrastiveBatch&) {}

  // The source by which models are compared on held-out rows. Where it is another, the loss is the energy
  // discrepancy.
  virtual NegativeSource& validation() { return *this; }

  // What the model's metadata tell of it, by key, as of this progress.
  virtual OptionMap Describe(double /*progress*/) const { return {}; }

  // How its own learning goes, as of the last Fill(), by name, for the log.
  virtual std::map<std::string, double> Metrics() const { return {}; }

  // What is deployed beside the model, as ONNX files by name.
  virtual std::map<std::string, std::string> Companions() const { return {}; }

  // What it keeps from step to step, for checkpoints; owner "negatives", or one below it ("negatives/...").
  virtual std::vector<StateTensor> Save() const { return {}; }
  // Throws kInvalidArgument, naming the tensor, where pieces are missing or of another shape.
  virtual void Load(std::span<const StateTensor>) {}
};

// What the rows are that a source makes negatives of.
struct RowContext {
  int64_t dimension = 0;
  Variables variables = {};                           // over the bits; of no dimension: all are binary
  std::vector<int64_t> image_shape = {};              // {height, width}; empty: no image
  std::vector<double> mean = {};                      // of each column of the data; empty: not known
  std::shared_ptr<const BaseDistribution> base = {};  // a learned one under the network; null: none
  int64_t step_negatives = 0;                         // of all rows of a step together; 0: not known
  int threads = 0;                                    // 0: all cores; results do not depend on it
  // Of networks that a source trains by itself.
  uint64_t seed = 0;  // of their initial parameters
  Device device = {};
};

// The variables of the rows, which are binary where nothing else is said.
inline Variables VariablesOf(const RowContext& rows) {
  return rows.variables.dimension() == 0 ? Variables::Binary(rows.dimension) : rows.variables;
}

class Perturbation;

// Which rows a source can make negatives of: where a variable has more than two states, bits cannot be
// changed one by one.
enum class RowKind { kBinary, kAny };

// A row of the table of sources. A perturbation (perturbation.h) makes negatives of each row by itself, and
// several may be joined; another source is alone.
struct NegativeKind {
  const char* name;
  const char* summary;
  const Schema& (*schema)();
  std::unique_ptr<Perturbation> (*perturbation)(const OptionMap& options, const RowContext& rows);
  std::unique_ptr<NegativeSource> (*source)(const OptionMap& options, const RowContext& rows);
  const char* objective = "energy-discrepancy";  // for which the negatives are made
  RowKind rows = RowKind::kBinary;
};

// A perturbation made from a class with `struct Options` and a constructor of (Options, RowContext).
template <typename P>
constexpr NegativeKind PerturbationKind(const char* name, const char* summary,
                                        RowKind kind = RowKind::kBinary) {
  NegativeKind made{name, summary, &SchemaOf<typename P::Options>,
                    [](const OptionMap& options, const RowContext& rows) -> std::unique_ptr<Perturbation> {
                      return std::make_unique<P>(MakeOptions<typename P::Options>(options), rows);
                    },
                    nullptr};
  made.rows = kind;
  return made;
}

// A source made from a class with `struct Options` and a constructor of (Options, RowContext).
template <typename S>
constexpr NegativeKind SourceKind(const char* name, const char* summary, const char* objective,
                                  RowKind kind = RowKind::kBinary) {
  return {name,
          summary,
          &SchemaOf<typename S::Options>,
          nullptr,
          [](const OptionMap& options, const RowContext& rows) -> std::unique_ptr<NegativeSource> {
            return std::make_unique<S>(MakeOptions<typename S::Options>(options), rows);
          },
          objective,
          kind};
}

std::span<const NegativeKind* const> NegativeKinds();
KindTable NegativeTable();

// One kind, or several perturbations joined by '+', of which each row draws one. Throws OptionError.
std::unique_ptr<NegativeSource> MakeNegatives(const Choice& method, const RowContext& rows);

// What learns well where some variables have more than two states and nothing was chosen.
Choice MethodForCategories(const Variables& variables);

// The objective for which a method makes negatives. Throws OptionError.
std::string ObjectiveOf(const Choice& method);
// Whether there are methods that make negatives for this objective.
bool IsObjectiveOfMethods(const std::string& objective);

}  // namespace ort_ed
