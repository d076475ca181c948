#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/policy/edit_policy.h"
#include "ort_ed/options.h"
#include "ort_ed/random.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/negative_source.h"
#include "trainer/policy/edit_paths.h"

namespace ort_ed {

struct EditOptions {
  bool aloe_plus = false;
  std::vector<int64_t> q0_hidden = {256, 256};
  std::vector<int64_t> editor_hidden = {512, 512};
  int64_t max_edits = 16;
  int64_t copies = 10;
  double policy_rate = 1e-3;

  static void Describe(Declare<EditOptions>& declare);
};

// The networks of models/policy/edit_policy.h in training, by maximum likelihood. The probability of a row is
// a sum over the ways to it, which an inverse proposal draws.
class EditLearner {
 public:
  EditLearner(const EditOptions& options, const RowContext& rows);

  // As it is now: good until the next Learn() or Load().
  EditView view();

  // One row for each stream.
  std::vector<uint8_t> Draw(std::vector<RandomStream>& random);

  // One step of Adam for each network, on `copies` ways to each row, weighted among themselves by how likely
  // they are against how they were proposed. Steps count from 1. Returns the mean of the estimates of
  // -log q(row). Throws kRuntime where the loss is not a number.
  double Learn(std::span<const uint8_t> rows, std::vector<RandomStream>& random, int64_t step);

  // Estimates of log q of each row from so many ways: below it on average, and at it as they grow.
  std::vector<double> LogLikelihoods(std::span<const uint8_t> rows, int64_t copies,
                                     std::vector<RandomStream>& random);

  // What the probability of a row is made of: -log q0, and the editor's logits (edit_policy::kEdits).
  std::vector<double> StartEnergies(std::span<const uint8_t> rows);
  std::vector<float> EditLogits(std::span<const uint8_t> rows);
  int64_t max_edits() const { return max_edits_; }

  // As an ONNX file.
  std::string Deploy();

  static constexpr char kStartOwner[] = "negatives/q0", kEditorOwner[] = "negatives/editor";
  std::vector<StateTensor> Save();
  void Load(std::span<const StateTensor> state);

 private:
  struct Ways;  // to rows, with what is known of them
  Ways Propose(std::span<const uint8_t> rows, int64_t copies, std::vector<RandomStream>& random);

  EditPolicySpec spec_;
  int64_t max_edits_, copies_;
  double rate_;
  Learner start_, editor_;
};

}  // namespace ort_ed
