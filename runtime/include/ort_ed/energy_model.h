#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/device.h"
#include "ort_ed/export.h"
#include "ort_ed/metadata.h"

namespace ort_ed {

struct LoadOptions {
  Device device = {};
  int threads = 0;         // that score the batches of one Energy() call; 0: all cores
  int64_t batch_rows = 0;  // rows under way at once, shared among the threads; 0: chosen to fit the cache
};

// A deployed energy model, p(x) proportional to exp(-U(x)), x in {0,1}^D. Const members may be called from
// any number of threads at once. Copies are cheap: they are the same model. Members throw ort_ed::Error, or
// what the standard library throws when memory or threads run out.
class ORT_ED_API EnergyModel {
 public:
  static EnergyModel FromFile(const std::string& path, const LoadOptions& options = {});
  // `name` stands for the file in error messages. The bytes are not needed after the call. `path`: the file
  // they come from, beside which tensors in other files are looked for; empty: there must be none.
  static EnergyModel FromMemory(std::span<const std::byte> bytes, const LoadOptions& options = {},
                                const std::string& name = "model in memory", const std::string& path = "");

  int64_t dimension() const;
  const ModelMetadata& metadata() const;
  const Variables& variables() const;  // of the metadata, or dimension() binary ones
  const Device& device() const;
  // Rows that one thread scores at once on the CPU; 0 on other devices, which take all rows of a call.
  int64_t RowsAtOnce() const;

  // Energies of rows x dimension() values, row-major, one per row. `rows` is energies.size() rows. Values
  // other than 0 and 1 (NaN among them), and variables with no or several ones among their bits, throw
  // kBadData naming row and column.
  void Energy(std::span<const float> rows, std::span<float> energies) const;
  void Energy(std::span<const uint8_t> rows, std::span<float> energies) const;
  // Rows packed as numpy.packbits(axis=1) packs them: variable 0 is the top bit of byte 0, PackedRowBytes() a
  // row.
  void EnergyPacked(std::span<const uint8_t> rows, std::span<float> energies) const;
  int64_t PackedRowBytes() const { return (dimension() + 7) / 8; }

  // The same without looking at the values: for callers that made the rows themselves, such as samplers.
  void EnergyUnchecked(std::span<const float> rows, std::span<float> energies) const;

  // log p(x) = -U(x) - log Z, from energies. Throws kInvalidArgument if the metadata carries no log Z.
  bool HasLogZ() const { return metadata().log_z.has_value(); }
  void LogLikelihood(std::span<const float> energies, std::span<double> log_likelihoods) const;

  // Energies and dU/dx (rows x dimension()), for gradient-guided samplers. Only models exported with their
  // gradient have it; others throw kInvalidArgument that says how to export one. The gradient graph is loaded
  // at the first call. The values are not checked: a gradient between 0 and 1 is a sensible question.
  bool HasGradient() const;
  void EnergyAndGradient(std::span<const float> rows, std::span<float> energies,
                         std::span<float> gradients) const;

  // A tensor of the learned base distribution that metadata().base describes, by its name without
  // kBaseTensorPrefix. Throws kBadModel if the file does not hold it.
  const std::vector<float>& BaseTensor(const std::string& name) const;

 private:
  struct Impl;
  explicit EnergyModel(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace ort_ed
