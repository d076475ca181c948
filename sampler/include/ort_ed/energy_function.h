#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "ort_ed/bipartite_form.h"
#include "ort_ed/energy_model.h"
#include "ort_ed/export.h"

namespace ort_ed {

class QuadraticEnergy;

// An energy U on the states of variables over D bits, as samplers and estimators see it. Rows are row-major,
// energies.size() of them. Const members may be called from any number of threads at once.
class ORT_ED_API EnergyFunction {
 public:
  virtual ~EnergyFunction() = default;

  virtual int64_t dimension() const = 0;  // bits of a row
  // Between whose states samplers move: D binary ones unless the energy says otherwise.
  virtual Variables variables() const { return Variables::Binary(dimension()); }
  // In double, although models compute in float: sums and differences of energies are taken in double.
  virtual void Energy(std::span<const float> rows, std::span<double> energies) const = 0;

  // Energies and dU/dx (rows x dimension()). Without gradient it throws kInvalidArgument that says what to
  // do.
  virtual bool HasGradient() const = 0;
  virtual void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                                 std::span<float> gradients) const = 0;

  // Not null where U is known to be quadratic in the bits: where all variables are binary, samplers then
  // update it incrementally.
  virtual const QuadraticEnergy* quadratic() const { return nullptr; }
  // Not null where U is known to be that of an RBM, but for a constant.
  virtual const BipartiteForm* bipartite() const { return nullptr; }
  // Rows that a thread evaluates at once; 0: all that a call has. Samplers cut their chains accordingly.
  virtual int64_t rows_at_once() const { return 0; }
};

// U(x) = constant + sum_i field_i x_i + sum_{i<j} coupling_ij x_i x_j. Evaluated over the couplings that are
// not zero, without ONNX Runtime.
class ORT_ED_API QuadraticEnergy final : public EnergyFunction {
 public:
  struct Neighbour {
    int32_t site;
    float coupling;
  };

  // `couplings`: D x D, symmetric; the diagonal is ignored. Throws kInvalidArgument if not symmetric or not
  // finite.
  QuadraticEnergy(double constant, std::span<const double> fields, std::span<const double> couplings,
                  int threads = 0);

  int64_t dimension() const override { return static_cast<int64_t>(fields_.size()); }
  void Energy(std::span<const float> rows, std::span<double> energies) const override;
  bool HasGradient() const override { return true; }
  // The gradient is that of the multilinear form: (1 - 2 x_i) * gradient_i is exactly the change of U when
  // x_i flips.
  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override;
  const QuadraticEnergy* quadratic() const override { return this; }

  double constant() const { return constant_; }
  std::span<const float> fields() const { return fields_; }
  // Where each site's neighbours start in one list of all; D + 1 values.
  std::span<const int64_t> starts() const { return starts_; }
  // Sites coupled to `site`, ascending.
  std::span<const Neighbour> neighbours(int64_t site) const {
    return {neighbours_.data() + starts_[site], neighbours_.data() + starts_[site + 1]};
  }

 private:
  double constant_;
  int threads_;
  std::vector<float> fields_;
  std::vector<int64_t> starts_;
  std::vector<Neighbour> neighbours_;
};

// The same energy between the states of these variables, where it knows nothing but bits.
ORT_ED_API std::shared_ptr<const EnergyFunction> WithVariables(std::shared_ptr<const EnergyFunction> energy,
                                                               const Variables& variables);

// Called now and then by long computations with the work done and the whole of it; may throw to stop them.
using WorkCallback = std::function<void(int64_t done, int64_t total)>;

struct EnergyFunctionOptions {
  // Finding the couplings of a quadratic energy costs 1 + D (D + 1) / 2 evaluations, or 1 + D with gradients.
  // Where this is more than the budget it is not tried; 0 never tries.
  int64_t evaluation_budget = int64_t{1} << 19;
  int threads = 0;  // of the evaluation of a quadratic energy; 0: all cores. Other models have their own
  WorkCallback on_progress = {};  // of those evaluations
  // What the energy is, if it is that of an RBM. Counts only where the model's energies agree.
  std::shared_ptr<const BipartiteForm> bipartite = nullptr;
};

// The energy of a model. Where its metadata say that it is a polynomial of degree 2 (`ort-ed export` reads
// that off the graph) the result has quadratic(), with couplings found from energies and verified on
// random rows and on its own samples; where rounding leaves room for doubt it counts as not quadratic.
ORT_ED_API std::shared_ptr<const EnergyFunction> MakeEnergyFunction(
    const EnergyModel& model, const EnergyFunctionOptions& options = {});

// The path of distributions that samplers move on: at inverse temperature beta the energy is
// (1 - beta) U0(x) + beta U(x). beta = 1 is the model, beta = 0 the base distribution, whose log Z is 0; with
// the uniform base this is plain tempering. beta may exceed 1.
struct EnergyPath {
  std::shared_ptr<const EnergyFunction> energy;
  std::shared_ptr<const BaseDistribution> base;

  explicit EnergyPath(std::shared_ptr<const EnergyFunction> u)
      : EnergyPath(u, ProductBase::Uniform(u->variables())) {}
  EnergyPath(std::shared_ptr<const EnergyFunction> u, ProductBase u0)
      : energy(std::move(u)), base(std::make_shared<ProductBase>(std::move(u0))) {}
  EnergyPath(std::shared_ptr<const EnergyFunction> u, std::shared_ptr<const BaseDistribution> u0)
      : energy(std::move(u)), base(std::move(u0)) {}
  int64_t dimension() const { return energy->dimension(); }
  Variables variables() const { return energy->variables(); }
  // The couplings where both ends are known to be at most quadratic and every bit moves by itself, else null.
  const QuadraticEnergy* quadratic() const {
    return base->independent() != nullptr && variables().all_binary() ? energy->quadratic() : nullptr;
  }
  // The RBM where the base has independent variables and every bit moves by itself, else null.
  const BipartiteForm* bipartite() const {
    return base->independent() != nullptr && variables().all_binary() ? energy->bipartite() : nullptr;
  }
};
using Target = EnergyPath;  // former name

}  // namespace ort_ed
