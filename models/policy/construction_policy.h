#pragma once

#include <cstdint>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// A network that builds rows variable by variable, and takes them apart (EB-GFN, Zhang et al. 2022). A state
// has each of its D variables at 0, at 1, or open. The network gives 3 D numbers: the first D and the next D
// for setting an open variable to 0 and to 1, the last D for opening one that is set. Softmax over what is
// possible makes probabilities of them: P_F of additions, over open variables and values together, and P_B of
// removals. Beside it a number is learned that becomes the logarithm of the partition function.
struct ConstructionPolicySpec {
  int64_t dimension = 0;
  std::vector<int64_t> hidden = {256, 256, 256};
  // Of the parameter "log_z", so that an optimiser whose steps have a size moves it by so much more.
  double log_z_scale = 1;
  uint64_t seed = 0;
};

namespace construction_policy {
inline constexpr char kOpen[] = "z";              // input of the deployed form: -1 (open), 0, 1
inline constexpr char kAdditions[] = "add";       // [batch, 2, D]: log P_F, about -1e9 where impossible
inline constexpr char kRemovals[] = "remove";     // [batch, D]: log P_B, likewise
inline constexpr char kLogPartition[] = "log_z";  // [1]
inline constexpr char kLogits[] = "logits";       // of the form for training: [batch, 3 D]
inline constexpr char kLogPartitionParameter[] = "log_z_scaled";

// What a variable is in a row of the form for training: a state with the steps before and after it on a path.
enum Code : uint8_t {
  kZero = 0,
  kOne = 1,
  kHole = 2,
  kNextZero = 3,  // open, the next to be set, ...
  kNextOne = 4,
  kLastZero = 5,  // set, as the last before
  kLastOne = 6,
};
}  // namespace construction_policy

// The form for training keeps the contract of energy models: rows of codes in, and one number for each,
//   log P_F(next) - log P_B(last), plus log_z for the state where all is open,
// where a step that the row does not name counts 0. Summed over the D + 1 states of a path it is log_z +
// log P_F(path) - log P_B(path).
onnx::ModelProto BuildPolicyForTraining(const ConstructionPolicySpec& spec);

// The same parameters, by the same names, in the form that is deployed; standard operators only.
onnx::ModelProto BuildPolicyForDeployment(const ConstructionPolicySpec& spec);

}  // namespace ort_ed
