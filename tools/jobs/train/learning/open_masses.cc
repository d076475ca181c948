#include "tools/jobs/train/learning/open_masses.h"

#include <fmt/format.h>

#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr char kParity[] = "an odd and an even number of ones";

// The classes that one method never confuses; empty: there are none.
std::string ClassesOf(const std::string& name, const OptionMap& options) {
  if (name == "grid") return kParity;
  if (name == "pool") return "different numbers of ones in a block";
  const auto stay = options.find("stay");
  const bool stays = stay == options.end() || FormatOption(stay->second) == "true";
  return name == "neighbourhood" && !stays ? kParity : "";
}

}  // namespace

std::string DescribeOpenMasses(const Choice& method) {
  const KindTable table = NegativeTable();
  std::string classes;
  for (const ChosenKind& part : Resolve(method, table, "method")) {
    const std::string of_part = ClassesOf(table.rows[part.row].name, part.options);
    if (of_part.empty()) return "";
    // Parity is what all of them leave as it is.
    classes = classes.empty() || classes == of_part ? of_part : kParity;
  }
  return fmt::format(
      "method {} never compares states with {}, so that how much mass each of these classes has is left to "
      "the form of the network; add a method that compares all (method {}+bernoulli)",
      method.kind, classes, method.kind);
}

}  // namespace ort_ed
