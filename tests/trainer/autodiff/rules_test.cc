// Every gradient rule against central differences.
#include "trainer/autodiff/rules.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

class RuleTest : public testing::TestWithParam<GradientCase> {};

TEST_P(RuleTest, MatchesCentralDifferences) { CheckGradients(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Rules, RuleTest, testing::ValuesIn(AllRuleCases()), [](const auto& test) {
  return std::string(test.param.name) + "_" + std::to_string(test.index);
});

TEST(RuleCoverage, EveryRuleHasACase) {
  const auto cases = AllRuleCases();
  for (const GradientRule& rule : AllGradientRules()) {
    const bool tested = std::any_of(cases.begin(), cases.end(), [&](const GradientCase& test) {
      const GradientRule* used = FindGradientRule("", test.name, test.opset);
      const bool same = used && used->op == std::string(rule.op) && used->since_opset == rule.since_opset;
      return same && std::string(test.graph).find(std::string("= ") + rule.op) != std::string::npos;
    });
    EXPECT_TRUE(tested) << "no test case for the rule of " << rule.op << " since opset " << rule.since_opset
                        << ": add one to tests/trainer/autodiff/cases/<family>.cc";
  }
}

TEST(RuleCoverage, NoRuleTwiceAndNoRuleForALeaf) {
  std::set<std::pair<std::string, int64_t>> seen;
  for (const GradientRule& rule : AllGradientRules()) {
    EXPECT_TRUE(seen.emplace(rule.op, rule.since_opset).second) << rule.op;
    EXPECT_EQ(Classify("", rule.op, 30), Differentiability::kRule) << rule.op;
  }
}

}  // namespace
}  // namespace ort_ed
