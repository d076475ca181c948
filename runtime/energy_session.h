#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/device.h"

namespace ort_ed {

// A session whose model keeps the energy model contract: one float input [batch, D] with a dynamic batch, the
// energies as float [batch] or [batch, 1], and, if asked for, the gradient as float [batch, D].
class EnergySession {
 public:
  // Opens the model as OpenSession() does. Throws kBadModel, naming the file `name`, the offending input or
  // output and what to do, where the contract is broken. Two rows are run, together and alone, to see that
  // the model really does what its types promise.
  EnergySession(std::span<const std::byte> bytes, const Device& device, int threads, std::string name,
                const std::string& path, bool with_gradient = false);
  ~EnergySession();

  int64_t dimension() const { return dimension_; }
  std::map<std::string, std::string> Metadata() const;

  // One call of ONNX Runtime on `count` rows, straight from and into the caller's memory. `gradients` only
  // for a session with gradient. Thread-safe.
  void Run(const float* rows, int64_t count, float* energies, float* gradients = nullptr) const;

 private:
  struct Handles;  // of ONNX Runtime, whose headers are large

  void CheckSignature(bool with_gradient);
  std::array<float, 2> RunTwoRows(std::span<float> rows);
  void CompareAlone(std::span<const float> rows, const std::array<float, 2>& together) const;
  [[noreturn]] void Reject(const std::string& problem) const;

  std::unique_ptr<Handles> handles_;
  std::string name_;
  std::string failure_;  // what Run says before ONNX Runtime's own message
  std::string input_;
  std::string energy_;
  std::vector<const char*> outputs_;
  int64_t dimension_ = 0;
  size_t energy_rank_ = 1;
};

}  // namespace ort_ed
