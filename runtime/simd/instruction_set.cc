#include "runtime/simd/instruction_set.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "runtime/support/named.h"

namespace ort_ed {
namespace {

struct NamedInstructions {
  const char* name;
  InstructionSet set;
};
constexpr std::array kInstructionSets = {NamedInstructions{"portable", InstructionSet::kPortable},
                                         NamedInstructions{"avx2", InstructionSet::kAvx2},
                                         NamedInstructions{"avx512", InstructionSet::kAvx512}};

InstructionSet OfThisProcessor() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return InstructionSet::kPortable;
  return __builtin_cpu_supports("avx512f") ? InstructionSet::kAvx512 : InstructionSet::kAvx2;
#else
  return InstructionSet::kPortable;
#endif
}

InstructionSet FindUsable() {
  const char* wanted = std::getenv("ORT_ED_INSTRUCTIONS");
  if (wanted == nullptr || *wanted == '\0') return OfThisProcessor();
  return std::min(OfThisProcessor(),
                  FindNamed(kInstructionSets, wanted, "set of instructions in ORT_ED_INSTRUCTIONS").set);
}

}  // namespace

InstructionSet UsableInstructions() {
  static const InstructionSet usable = FindUsable();
  return usable;
}

const char* InstructionSetName(InstructionSet set) { return kInstructionSets[static_cast<size_t>(set)].name; }

}  // namespace ort_ed
