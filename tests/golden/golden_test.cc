// Every result of the command is the one in expected.json. The bits are compared on machines with the
// fingerprint of the one it was recorded on; the numbers everywhere, up to rounding and chance.
//
// To record anew, after a change that is meant to change results (whole, without a filter):
//   ORT_ED_RECORD_GOLDEN=tests/golden/expected.json build/dev/tests/golden/golden_test

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/golden/cases.h"
#include "tests/golden/fingerprint.h"
#include "tests/golden/workshop.h"

namespace ort_ed {
namespace {

using nlohmann::json;

const char* RecordFile() { return std::getenv("ORT_ED_RECORD_GOLDEN"); }

const json& Expected() {
  static const json expected = json::parse(std::ifstream(ORT_ED_GOLDEN_FILE));
  return expected;
}

bool SameMachine() { return Expected().at("fingerprint") == Fingerprint(); }

void ExpectNearValue(const json& expected, const json& actual, double tolerance, const std::string& where) {
  if (!expected.is_number() || !actual.is_number()) {
    EXPECT_EQ(actual, expected) << where;
    return;
  }
  const auto number = expected.get<double>();
  EXPECT_NEAR(actual.get<double>(), number, tolerance * std::max(1.0, std::abs(number))) << where;
}

void ExpectNear(const json& expected, const json& actual, double tolerance, const std::string& where) {
  const json flat_expected = expected.flatten(), flat_actual = actual.flatten();
  for (const auto& [place, value] : flat_expected.items()) {
    EXPECT_TRUE(flat_actual.contains(place)) << where << " has no " << place;
    if (flat_actual.contains(place))
      ExpectNearValue(value, flat_actual[place], tolerance, where + " " + place);
  }
  for (const auto& [place, value] : flat_actual.items())
    EXPECT_TRUE(flat_expected.contains(place)) << where << " has a new " << place;
}

// One line a case, so that a difference shows in which.
void WriteRecord(const std::map<std::string, json>& cases) {
  std::ofstream file(RecordFile());
  file << "{\"fingerprint\": " << Fingerprint().dump() << ",\n\"cases\": {";
  const char* separator = "\n";
  for (const auto& [name, result] : cases) {
    file << separator << json(name).dump() << ": " << result.dump();
    separator = ",\n";
  }
  file << "\n}}\n";
}

class Golden : public ::testing::TestWithParam<GoldenCase> {
 protected:
  static void SetUpTestSuite() {
    setenv("ORT_ED_INSTRUCTIONS", "avx2",
           1);  // our own kernels are those of the record on newer processors, too
    workshop_ = std::make_unique<Workshop>();
  }
  static void TearDownTestSuite() {
    if (RecordFile() != nullptr) WriteRecord(record_);
    workshop_.reset();
  }

  static inline std::unique_ptr<Workshop> workshop_;
  static inline std::map<std::string, json> record_;
};

TEST_P(Golden, IsAsRecorded) {
  const GoldenCase& golden = GetParam();
  const GoldenResult result = golden.result(*workshop_, golden.name, workshop_->Run(golden.arguments));
  if (RecordFile() != nullptr) {
    record_[golden.name] = {{"bits", result.bits}, {"values", result.values}};
    return;
  }
  ASSERT_TRUE(Expected().at("cases").contains(golden.name)) << "not recorded yet";
  const json& expected = Expected().at("cases").at(golden.name);
  if (!SameMachine()) {
    ExpectNear(expected.at("values"), result.values, golden.tolerance, golden.name);
    GTEST_SKIP() << "bits not compared: recorded with " << Expected().at("fingerprint") << ", this is "
                 << Fingerprint();
  }
  ExpectNear(expected.at("bits"), result.bits, 0, golden.name + " bits");
  ExpectNear(expected.at("values"), result.values, 0, golden.name);
}

INSTANTIATE_TEST_SUITE_P(Command, Golden, ::testing::ValuesIn(GoldenCases()),
                         [](const auto& test) { return test.param.name; });

TEST(GoldenFile, HasNoOtherCases) {
  if (RecordFile() != nullptr) GTEST_SKIP() << "recording";
  std::set<std::string> names, recorded;
  for (const GoldenCase& golden : GoldenCases()) names.insert(golden.name);
  for (const auto& [name, result] : Expected().at("cases").items()) recorded.insert(name);
  EXPECT_EQ(recorded, names);
}

}  // namespace
}  // namespace ort_ed
