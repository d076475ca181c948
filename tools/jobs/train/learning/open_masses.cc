#include "tools/jobs/train/learning/open_masses.h"

#include <fmt/format.h>

#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

// What is the same in all states that a method compares with one another.
struct Kept {
  bool parity, ones_of_blocks, fixed_variables;
};

Kept KeptBy(const std::string& name, const OptionMap& options) {
  const auto is_given = [&](const char* key) { return options.contains(key); };
  if (name == "grid") return {.parity = true, .ones_of_blocks = false, .fixed_variables = false};
  if (name == "pool") return {.parity = true, .ones_of_blocks = true, .fixed_variables = false};
  if (name != "neighbourhood") return {};
  return {.parity = is_given("stay") && FormatOption(options.at("stay")) != "true",
          .ones_of_blocks = false,
          .fixed_variables =
              is_given("moves") && FormatOption(options.at("moves")).find('.') != std::string::npos};
}

// The classes of states that are told apart by it.
const char* ClassesOf(const Kept& kept) {
  if (kept.ones_of_blocks) return "different numbers of ones in a block";
  if (kept.parity) return "an odd and an even number of ones";
  return kept.fixed_variables ? "different values of the variables that do not move" : nullptr;
}

}  // namespace

std::string DescribeOpenMasses(const Choice& method) {
  const KindTable table = NegativeTable();
  Kept kept{.parity = true, .ones_of_blocks = true, .fixed_variables = true};
  for (const ChosenKind& part : Resolve(method, table, "method")) {
    const Kept by_part = KeptBy(table.rows[part.row].name, part.options);
    kept.parity &= by_part.parity;
    kept.ones_of_blocks &= by_part.ones_of_blocks;
    kept.fixed_variables &= by_part.fixed_variables;
  }
  const char* const classes = ClassesOf(kept);
  if (classes == nullptr) return "";
  return fmt::format(
      "method {} never compares states with {}, so that how much mass each of these classes has is left to "
      "the form of the network; add a method that compares all (method {}+bernoulli)",
      method.kind, classes, method.kind);
}

}  // namespace ort_ed
