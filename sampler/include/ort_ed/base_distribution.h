#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ort_ed/energy_model.h"
#include "ort_ed/export.h"

namespace ort_ed {

class ProductBase;
class AutoregressiveBase;

// A distribution p0 on the states of variables over D bits that is normalised and easy to draw from: where
// paths to a model begin. Rows are row-major, energies.size() of them. Const members may be called from any
// number of threads at once.
class ORT_ED_API BaseDistribution {
 public:
  virtual ~BaseDistribution() = default;

  virtual int64_t dimension() const = 0;
  // U0(x) = -log p0(x).
  virtual void Energy(std::span<const float> rows, std::span<double> energies) const = 0;
  // The same with dU0/dx, rows x dimension().
  virtual void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                                 std::span<float> gradients) const = 0;
  // Independent draws, row r from (seed, r + first_row).
  virtual void Draw(uint64_t seed, uint64_t first_row, std::span<float> rows) const = 0;

  // Not null for what it says: samplers then take shorter ways.
  virtual const ProductBase* independent() const { return nullptr; }
  virtual const AutoregressiveBase* autoregressive() const { return nullptr; }

  // Draws `count` new rows; throws kInvalidArgument if that is less than one or more than memory can hold.
  std::vector<float> DrawRows(uint64_t seed, uint64_t first_row, int64_t count) const;
};

// The base distribution of the model's metadata, else the uniform distribution over its states. `threads`:
// that draw and evaluate; 0: all cores. Throws kBadModel where what the file holds of it is damaged.
ORT_ED_API std::shared_ptr<const BaseDistribution> MakeBaseDistribution(const EnergyModel& model,
                                                                        int threads = 0);

// Variables that know nothing of one another, binary ones and others: U0(x) = constant + sum_i field_i x_i
// over the bits.
class ORT_ED_API ProductBase final : public BaseDistribution {
 public:
  // P(x_i = 1) = means[i], strictly between 0 and 1; else throws kInvalidArgument. Of a variable with more
  // bits they are the probabilities of its states, which must add up to 1 but for rounding.
  ProductBase(std::span<const float> means, const Variables& variables);
  // Binary variables.
  explicit ProductBase(std::span<const float> means);
  // Every state of every variable as likely as the others.
  static ProductBase Uniform(const Variables& variables);
  static ProductBase Uniform(int64_t dimension) { return Uniform(Variables::Binary(dimension)); }
  // The product in the model's metadata, else uniform.
  static ProductBase OfModel(const EnergyModel& model);

  int64_t dimension() const override { return static_cast<int64_t>(fields_.size()); }
  using BaseDistribution::Energy;
  double Energy(std::span<const float> row) const;
  void Energy(std::span<const float> rows, std::span<double> energies) const override;
  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override;
  void Draw(uint64_t seed, uint64_t first_row, std::span<float> rows) const override;
  const ProductBase* independent() const override { return this; }

  std::span<const double> fields() const { return fields_; }  // dU0/dx
  double constant() const { return constant_; }

 private:
  explicit ProductBase(const Variables& variables) : variables_(variables) {}

  Variables variables_;
  std::vector<double> fields_;
  double constant_ = 0;
};
using BernoulliBase = ProductBase;  // former name

// The tensors of the part of such a network that looks, of an image of height x width pixels, at a view
// above each pixel and to its left, with weights that all pixels share:
//   f_0 = view * x + view.bias + places,   f_k = f_(k-1) + mix_k * swish(conv_k * swish(f_(k-1)) + ...) +
//   ...,
// and output * swish(f) is added to the log odds. Matrices are as ONNX's Conv has them, output x input x
// height x width, with 0 where a later pixel stands.
struct ViewTensors {
  struct Layer {
    std::vector<float> weight, bias;
  };
  struct Block {
    Layer conv, mix;  // 2 x 3 and 1 x 1
  };
  int64_t height = 0, width = 0, view_height = 0, view_width = 0;
  Layer view;
  std::vector<float> places;  // maps x height x width
  std::vector<Block> blocks;
  Layer output;
};

// The tensors of a masked autoencoder (Germain et al. 2015): variable order[k] is drawn k-th, with the log
// odds
//   output_bias + direct' x + output' h_L,   h_l = swish(weight_l' h_(l-1) + bias_l),  h_0 = x,
// where only what is drawn earlier counts. The states of a variable with more than two have the probabilities
// softmax of those of its bits. Unit u of a layer of H sees the variables up to position UnitDegree(u, H, V)
// of V. Matrices are row-major, inputs x outputs, bits in their natural order.
struct AutoregressiveTensors {
  struct Layer {
    std::vector<float> weight, bias;
  };
  Variables variables = {};  // over the bits; of no dimension: all are binary
  std::vector<int64_t> order;
  std::vector<Layer> hidden;
  std::vector<float> output, output_bias, direct;
  std::optional<ViewTensors> view = {};  // of images, whose pixels lie row by row in the order
};

// An autoregressive network, or a mixture p0(x) = 1/K sum_k p_k(x) of several. Draws cost about one
// evaluation of one network: a hidden unit is computed once, when all it sees is drawn.
class ORT_ED_API AutoregressiveBase final : public BaseDistribution {
 public:
  // Throws kInvalidArgument for an order that is no permutation, shapes that do not fit, values that are not
  // finite, and weights that are not 0 where the order forbids a connection: p0 would not be normalised.
  explicit AutoregressiveBase(const AutoregressiveTensors& tensors, int threads = 0);
  // The same for networks over the same variables, at least one.
  explicit AutoregressiveBase(std::span<const AutoregressiveTensors> networks, int threads = 0);
  ~AutoregressiveBase() override;

  int64_t dimension() const override;
  void Energy(std::span<const float> rows, std::span<double> energies) const override;
  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override;
  void Draw(uint64_t seed, uint64_t first_row, std::span<float> rows) const override;
  const AutoregressiveBase* autoregressive() const override { return this; }

  const Variables& variables() const;
  int64_t networks() const;
  // The variables in the order in which a network draws them.
  std::span<const int32_t> order(int64_t network = 0) const;

  // One random stream for each row that is drawn.
  struct Streams {
    uint64_t seed = 0;
    uint32_t purpose = 0;
    uint64_t step = 0;
    uint64_t first_row = 0;
  };
  // By which network a row may have been drawn: k ~ p(k | x) = p_k(x) / sum_j p_j(x), for every row.
  std::vector<int32_t> DrawNetworks(const Streams& streams, std::span<const float> rows) const;
  // Draws anew, in every row r, what stands at the positions of network networks[r] from starts[r] on, given
  // what stands before. `networks` may be left out where there is one. With k of DrawNetworks() this leaves
  // p0 as it is: (x, k) has the law p_k(x) / K before and after.
  void Refill(const Streams& streams, std::span<const int64_t> starts, std::span<float> rows,
              std::span<const int32_t> networks = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ort_ed
