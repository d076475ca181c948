#pragma once

#include <cstdint>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Networks that draw a row and then edit it (ALOE, Dai et al. 2020). q0 draws the variables one after the
// other; then, again and again, one network says whether to stop and another which variable to flip. No
// variable is flipped twice.
struct EditPolicySpec {
  int64_t dimension = 0;
  std::vector<int64_t> q0_hidden = {256, 256};
  std::vector<int64_t> editor_hidden = {512, 512};
  uint64_t seed = 0;
};

namespace edit_policy {
inline constexpr char kRow[] = "x";             // input of the deployed form: 0, 1
inline constexpr char kLogOdds[] = "log_odds";  // [batch, D]: of q0, each given the variables before it
inline constexpr char kEdits[] = "edits";  // [batch, D + 1]: logits of flipping each; log odds of stopping
inline constexpr char kMaxEdits[] = "ort_ed.max_edits";  // metadata of the deployed form
inline constexpr char kMaskedWeights[] = "q0.*.weight";  // whose zeros must stay, by a pattern

// What a variable is in a row of the editor's form for training. A row where none is next stops.
enum Code : uint8_t {
  kZero = 0,
  kOne = 1,
  kEditedZero = 2,  // flipped before
  kEditedOne = 3,
  kNextZero = 4,  // not flipped before, and the next to be
  kNextOne = 5,
};
}  // namespace edit_policy

// Both keep the contract of energy models. q0: -log q0 of rows of bits. The editor: of rows of codes minus
// the logarithm of the probability of what the row does next.
onnx::ModelProto BuildStartForTraining(const EditPolicySpec& spec);
onnx::ModelProto BuildEditorForTraining(const EditPolicySpec& spec);

// All of them, with the same parameters by the same names; standard operators only.
onnx::ModelProto BuildEditPolicyForDeployment(const EditPolicySpec& spec);

}  // namespace ort_ed
