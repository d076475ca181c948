#pragma once

namespace ort_ed {

// What our own vector code is compiled for, from the least to the most.
enum class InstructionSet { kPortable, kAvx2, kAvx512 };

// The most that this processor has, or less where ORT_ED_INSTRUCTIONS in the environment says so: portable,
// avx2 (with fused multiply-adds) or avx512. Throws kInvalidArgument for other names.
InstructionSet UsableInstructions();

// As ORT_ED_INSTRUCTIONS spells it.
const char* InstructionSetName(InstructionSet set);

}  // namespace ort_ed
