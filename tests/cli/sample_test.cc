// `ort-ed sample` and `ort-ed data ising`, as a user runs them.

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/data/npy.h"
#include "runtime/data/row_reader.h"
#include "tests/cli/run_command.h"
#include "tests/support/chi_square.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Three spins in a ring with a field on the first: U = -sum of 0.5 s s - 0.3 s_0, s = 2x - 1.
constexpr char kRing[] = R"(
<ir_version: 8, opset_import: ["": 17]>
ring (float[batch, 3] x) => (float[batch] energy)
<float[3, 3] J = {0, -0.5, 0, 0, 0, -0.5, -0.5, 0, 0}, float[3] h = {-0.3, 0, 0}>
{
  two = Constant<value = float {2.0}>()
  one = Constant<value = float {1.0}>()
  axes = Constant<value = int64[1] {1}>()
  doubled = Mul(two, x)
  s = Sub(doubled, one)
  field = MatMul(s, J)
  both = Add(field, h)
  terms = Mul(both, s)
  energy = ReduceSum<keepdims = 0>(terms, axes)
}
)";

// The same with the logarithm of 1 + exp: not quadratic.
constexpr char kSoft[] = R"(
<ir_version: 8, opset_import: ["": 17]>
soft (float[batch, 3] x) => (float[batch] energy)
<float[3, 4] W = {2, -1, 1, 0, 1, 1, -3, 1, -1, 2, 1, 2}>
{
  axes = Constant<value = int64[1] {1}>()
  inputs = MatMul(x, W)
  soft = Softplus(inputs)
  sum = ReduceSum<keepdims = 0>(soft, axes)
  energy = Neg(sum)
}
)";

double RingEnergy(int state) {
  const auto s = [&](int i) { return 2.0 * (state >> i & 1) - 1; };
  return -0.5 * (s(0) * s(1) + s(1) * s(2) + s(2) * s(0)) - 0.3 * s(0);
}

double SoftEnergy(int state) {
  constexpr double kWeights[3][4] = {{2, -1, 1, 0}, {1, 1, -3, 1}, {-1, 2, 1, 2}};
  double energy = 0;
  for (int k = 0; k < 4; ++k) {
    double input = 0;
    for (int i = 0; i < 3; ++i) input += kWeights[i][k] * (state >> i & 1);
    energy -= std::log1p(std::exp(input));
  }
  return energy;
}

std::map<int, double> LawOf(double (*energy)(int), double beta) {
  std::map<int, double> law;
  double total = 0;
  for (int state = 0; state < 8; ++state) total += law[state] = std::exp(-beta * energy(state));
  for (auto& [state, p] : law) p /= total;
  return law;
}

int StateOf(std::span<const uint8_t> row) { return row[0] | row[1] << 1 | row[2] << 2; }

std::map<int, double> CountsOf(const RowTable& table) {
  std::map<int, double> counts;
  for (int64_t row = 0; row < table.rows; ++row) ++counts[StateOf(table.Row(row))];
  return counts;
}

// x_0 = 1 is known in every first row, x_2 = 0 in every second.
void ExpectFilled(const RowTable& filled, const std::map<int, double>& law, const std::string& model) {
  for (int row = 0; row < 2; ++row) {
    std::map<int, double> conditional, counts;
    double total = 0;
    for (const auto& [state, p] : law)
      if (row == 0 ? (state & 1) != 0 : (state & 4) == 0) total += conditional[state] = p;
    for (auto& [state, p] : conditional) p /= total;
    for (int64_t i = row; i < filled.rows; i += 2) ++counts[StateOf(filled.Row(i))];
    const ChiSquare test = ChiSquareTest(counts, conditional);
    EXPECT_TRUE(test.Passes()) << model << " row " << row << " " << test.statistic;
  }
}

class Sample : public testing::Test {
 protected:
  void SetUp() override {
    ring_ = Write("ring.onnx", ModelFromText(kRing));
    soft_ = Write("soft.onnx", ModelFromText(kSoft));
  }
  std::string Write(const std::string& name, const std::string& contents) {
    std::ofstream(folder_.File(name), std::ios::binary) << contents;
    return folder_.File(name);
  }
  CommandResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sample");
    return RunOrtEd(arguments);
  }

  TempDir folder_;
  std::string ring_, soft_;
};

TEST_F(Sample, DrawsFromTheModel) {
  for (const auto& [model, energy] : {std::pair{ring_, &RingEnergy}, {soft_, &SoftEnergy}}) {
    for (const double beta : {1.0, 0.5}) {
      const std::string out = folder_.File("x.npy");
      const CommandResult result =
          Run({model, "-n", "20000", "--steps", "30", "--beta", std::to_string(beta), "-o", out});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(result.out, "");
      const ChiSquare test = ChiSquareTest(CountsOf(ReadRows(out)), LawOf(energy, beta));
      EXPECT_TRUE(test.Passes()) << model << " " << beta << " " << test.statistic;
    }
  }
}

double LookupEnergy(int state) {
  constexpr double kTable[] = {0, 2, 1, 0.5, 3, 1, 0, 2};
  return kTable[state];
}

TEST_F(Sample, AGradientThatSeesNothingIsRefusedAndDifferencesDrawInstead) {
  const std::string model = Write("lookup.onnx", LookupModel()), out = folder_.File("x.npy");
  for (const std::vector<std::string>& sampler : std::vector<std::vector<std::string>>{
           {"--sampler", "gwg"}, {"--sampler", "dula"}, {"--sampler", "tempering", "--inner", "pas"}}) {
    std::vector<std::string> words = {model, "-n", "20000", "--steps", "60", "-o", out};
    words.insert(words.end(), sampler.begin(), sampler.end());
    const CommandResult refused = Run(words);
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("--gradient"), HasSubstr("Cast"), HasSubstr("differences")));
    EXPECT_FALSE(std::filesystem::exists(out));
    if (sampler[1] == "dula") continue;  // has a law of its own
    words.insert(words.end(), {"--gradient", "differences"});
    const CommandResult result = Run(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const ChiSquare test = ChiSquareTest(CountsOf(ReadRows(out)), LawOf(LookupEnergy, 1));
    EXPECT_TRUE(test.Passes()) << sampler[1] << " " << test.statistic;
    std::filesystem::remove(out);
  }
  EXPECT_EQ(Run({model, "-n", "10", "--sampler", "gwg", "--gradient", "derivative", "-o", out}).exit_code, 0);
}

// Nobody has to know how long chains must be where there need not be any.
TEST_F(Sample, FewStatesAreDrawnWithoutChains) {
  const std::string out = folder_.File("x.npy"), holes = Write("holes.csv", "a,b,c\n1,,\n,?,0\n");
  for (const auto& [model, energy] : {std::pair{ring_, &RingEnergy}, {soft_, &SoftEnergy}}) {
    const CommandResult all = Run({model, "-n", "20000", "--beta", "0.5", "-o", out});
    ASSERT_EQ(all.exit_code, 0) << all.err;
    EXPECT_THAT(all.err,
                HasSubstr("exact: independent draws by the probabilities of all states (8 energies)"));
    const ChiSquare test = ChiSquareTest(CountsOf(ReadRows(out)), LawOf(energy, 0.5));
    EXPECT_TRUE(test.Passes()) << model << " " << test.statistic;
    ASSERT_EQ(Run({model, "--clamp", holes, "-n", "20000", "-o", out}).exit_code, 0);
    ExpectFilled(ReadRows(out), LawOf(energy, 1), model);
  }
  const std::vector<uint8_t> drawn = ReadRows(out).values;
  ASSERT_EQ(Run({soft_, "--clamp", holes, "-n", "20000", "--threads", "3", "-o", out}).exit_code, 0);
  EXPECT_EQ(ReadRows(out).values, drawn);
  ASSERT_EQ(Run({soft_, "--clamp", holes, "-n", "20000", "--seed", "3", "-o", out}).exit_code, 0);
  EXPECT_NE(ReadRows(out).values, drawn);
  const CommandResult told = Run({soft_, "-n", "5", "--json", "-o", out});
  const auto json = nlohmann::json::parse(told.out);
  EXPECT_EQ(json["sampler"], "exact");
  EXPECT_TRUE(json["diagnostics"]["energy"]["r_hat"].is_null());
  // What is said about chains is a wish for them.
  const CommandResult chains = Run({soft_, "-n", "5", "--steps", "20", "--json", "-o", out});
  EXPECT_EQ(nlohmann::json::parse(chains.out)["sampler"], "gibbs");
}

TEST_F(Sample, ExactHasNoChains) {
  const std::string out = folder_.File("x.npy"), init = Write("init.csv", "1,0,1\n");
  EXPECT_EQ(Run({soft_, "--sampler", "exact", "-o", out}).exit_code, 0);
  const CommandResult steps = Run({soft_, "--sampler", "exact", "--steps", "9", "-o", out});
  EXPECT_EQ(steps.exit_code, 2);
  EXPECT_THAT(steps.err, HasSubstr("--steps has no effect with --sampler exact"));
  const CommandResult started = Run({soft_, "--sampler", "exact", "--init", init, "-o", out});
  EXPECT_EQ(started.exit_code, 1);
  EXPECT_THAT(started.err, HasSubstr("no chains that could start"));
}

TEST_F(Sample, SeedDecidesNotThreads) {
  const auto draw = [&](const std::string& model, std::vector<std::string> more) {
    const std::string out = folder_.File("x.bits.npy");
    std::vector<std::string> arguments = {model, "-n", "70", "--steps", "20", "-o", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return ReadRows(out, {.columns = 3}).values;
  };
  for (const std::string& model : {ring_, soft_}) {
    const auto expected = draw(model, {"--seed", "5", "--threads", "1"});
    EXPECT_EQ(draw(model, {"--seed", "5", "--threads", "3"}), expected);
    EXPECT_NE(draw(model, {"--seed", "6"}), expected);
  }
}

TEST_F(Sample, TellsItsDiagnosticsAsJson) {
  const CommandResult result =
      Run({ring_, "-n", "400", "--chains", "20", "--steps", "500", "--burn-in", "100", "--json", "-o",
           folder_.File("x.npy"), "--trace", folder_.File("energies.npy")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["samples"], 400);
  EXPECT_EQ(json["chains"], 20);
  EXPECT_EQ(json["thin"], 20);
  EXPECT_EQ(json["quadratic"], true);
  EXPECT_NEAR(json["diagnostics"]["energy"]["r_hat"], 1, 0.05);
  EXPECT_NEAR(json["diagnostics"]["variables"]["largest_r_hat"], 1, 0.05);
  EXPECT_GT(json["diagnostics"]["energy"]["ess"], 20 * 400 / 4);
  EXPECT_TRUE(json["diagnostics"]["swap_rate"].is_null());
  EXPECT_EQ(ReadRows(folder_.File("x.npy")).rows, 400);
  const NpyArray trace = ReadNpy(folder_.File("energies.npy"));
  EXPECT_THAT(trace.shape, testing::ElementsAre(500, 20));
  // The last row of the trace belongs to the last samples.
  const RowTable samples = ReadRows(folder_.File("x.npy"));
  for (int chain = 0; chain < 20; ++chain)
    EXPECT_NEAR(trace.values[499 * 20 + chain], RingEnergy(StateOf(samples.Row(380 + chain))), 1e-5);
}

TEST_F(Sample, SaysWhatAShortRunDoesNotTell) {
  const CommandResult result = Run({soft_, "-n", "5", "--steps", "2", "-o", folder_.File("x.npy")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("effective sample size not known"), HasSubstr("R-hat not known"),
                                testing::Not(HasSubstr("nan"))));
}

TEST_F(Sample, TemperingReportsItsExchanges) {
  const CommandResult result = Run({soft_, "--sampler", "tempering", "--temperatures", "3", "-n", "20000",
                                    "--steps", "30", "--json", "-o", folder_.File("x.npy")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_GT(json["diagnostics"]["swap_rate"], 0.3);
  EXPECT_EQ(json["quadratic"], false);
  const ChiSquare test = ChiSquareTest(CountsOf(ReadRows(folder_.File("x.npy"))), LawOf(SoftEnergy, 1));
  EXPECT_TRUE(test.Passes()) << test.statistic;
}

// |x| as the root of its square: the chain rule meets 0 / 0 where x is 0. Energies are all that gibbs needs.
TEST_F(Sample, AGradientThatIsNoNumberIsAnErrorNotAFrozenChain) {
  const std::string model = Write("root.onnx", ModelFromText(R"(
    <ir_version: 8, opset_import: ["": 17]>
    root (float[N, 4] x) => (float[N] energy) <int64[1] axes = {1}> {
      s = Mul(x, x) r = Sqrt(s) energy = ReduceSum<keepdims = 0>(r, axes) })"));
  const CommandResult guided =
      Run({model, "-n", "10", "--steps", "5", "--sampler", "gwg", "-o", folder_.File("x.npy")});
  EXPECT_EQ(guided.exit_code, 1);
  EXPECT_THAT(guided.err, HasSubstr("is not a number"));
  EXPECT_EQ(Run({model, "-n", "10", "--steps", "5", "-o", folder_.File("x.npy")}).exit_code, 0);
}

// The files carry no gradient: the command derives it.
TEST_F(Sample, GradientGuidedSamplersNeedNoPreparation) {
  const std::vector<std::array<std::string, 3>> samplers = {
      {"gwg", "--flips", "1"}, {"dmala", "--step-size", "0.6"}, {"pas", "--path-length", "2"}};
  for (const auto& [sampler, option, value] : samplers) {
    const std::string out = folder_.File("x.npy");
    const CommandResult result =
        Run({soft_, "-n", "5000", "--steps", "60", "--sampler", sampler, option, value, "-o", out});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const ChiSquare test = ChiSquareTest(CountsOf(ReadRows(out)), LawOf(SoftEnergy, 1));
    EXPECT_TRUE(test.Passes()) << sampler << " " << test.statistic;
  }
}

TEST_F(Sample, TemperingGivesAGuidedSamplerItsGradient) {
  const std::string out = folder_.File("x.npy");
  for (const std::string inner : {"gwg", "dmala", "pas"}) {
    const CommandResult result =
        Run({soft_, "-n", "5000", "--steps", "60", "--sampler", "tempering", "--inner", inner, "-o", out});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const ChiSquare test = ChiSquareTest(CountsOf(ReadRows(out)), LawOf(SoftEnergy, 1));
    EXPECT_TRUE(test.Passes()) << inner << " " << test.statistic;
  }
}

// The contract gives the energy no name.
TEST_F(Sample, GradientGuidedSamplersTakeAnEnergyOfAnyName) {
  std::string text = kSoft;
  for (size_t at; (at = text.find("energy")) != std::string::npos;) text.replace(at, 6, "u");
  const std::string model = Write("u.onnx", ModelFromText(text));
  const CommandResult result =
      Run({model, "-n", "20", "--steps", "20", "--sampler", "dmala", "-o", folder_.File("x.npy")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Sample, FillsMissingCells) {
  const std::string holes = Write("holes.csv", "a,b,c\n1,,\n,?,0\n");
  for (const auto& [model, energy] : {std::pair{ring_, &RingEnergy}, {soft_, &SoftEnergy}}) {
    const CommandResult result =
        Run({model, "--clamp", holes, "-n", "20000", "--steps", "30", "-o", folder_.File("x.npy")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    ExpectFilled(ReadRows(folder_.File("x.npy")), LawOf(energy, 1), model);
  }
}

TEST_F(Sample, KeepsWhatTheMaskSays) {
  const std::string init = Write("init.csv", "1,0,1\n0,1,1\n");
  for (const std::string mask : {"0,1,0\n", "1,0,0\n0,0,1\n"}) {
    const CommandResult result = Run({ring_, "--init", init, "--clamp", Write("mask.csv", mask), "-n", "200",
                                      "--steps", "20", "-o", folder_.File("x.csv")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const RowTable filled = ReadRows(folder_.File("x.csv"));
    ASSERT_EQ(filled.rows, 200);
    int free_ones[2] = {};
    for (int64_t i = 0; i < 200; ++i) {
      const bool one_row = mask.size() == 6;
      const int kept = one_row ? 1 : (i % 2 == 0 ? 0 : 2);
      EXPECT_EQ(filled.Row(i)[kept], one_row ? i % 2 : 1);
      free_ones[i % 2] += filled.Row(i)[one_row ? 0 : 1];
    }
    for (const int ones : free_ones) EXPECT_THAT(ones, AllOf(testing::Gt(10), testing::Lt(95)));
  }
  // One chain for each row where -n is not said.
  ASSERT_EQ(Run({ring_, "--init", init, "--steps", "3", "-o", folder_.File("y.csv")}).exit_code, 0);
  EXPECT_EQ(ReadRows(folder_.File("y.csv")).rows, 2);
}

TEST_F(Sample, DrawsAPicture) {
  const std::string png = folder_.File("grid.png");
  const CommandResult result =
      Run({ring_, "-n", "150", "--steps", "3", "-o", folder_.File("x.npy"), "--png", png, "--shape", "3x1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::ifstream file(png, std::ios::binary);
  EXPECT_EQ(file.get(), 0x89);
  EXPECT_EQ(file.get(), 'P');
}

TEST_F(Sample, RefusesWhatCannotBe) {
  const std::string out = folder_.File("x.npy");
  const auto fails = [&](int code, const std::string& message, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", out});
    const CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  fails(1,
        "--sampler must be one of auto, exact, gibbs, block-gibbs, gwg, dula, dmala, pas, refill, tempering, "
        "not "
        "'gips'",
        {ring_, "--sampler", "gips"});
  fails(2, "--steps", {ring_, "--steps", "0"});
  fails(2, "--steps must be 1000 or more",
        {ring_, "-n", "1000", "--chains", "1", "--burn-in", "0", "--steps", "10"});
  fails(1, "systematic, random", {ring_, "--scan", "both"});
  fails(2, "--flips has no effect with --sampler auto; it belongs to gwg", {ring_, "--flips", "2"});
  fails(2, "--inner has no effect with --sampler pas; it belongs to tempering",
        {ring_, "--sampler", "pas", "--inner", "gwg"});
  fails(2, "--block has no effect with --sampler tempering",
        {ring_, "--sampler", "tempering", "--block", "2"});
  fails(1, "no missing value", {ring_, "--clamp", Write("full.csv", "1,0,1\n")});
  fails(1, "keeps every value, so there is nothing to sample",
        {ring_, "--init", Write("init.csv", "1,0,1\n"), "--clamp", Write("mask.csv", "1,1,1\n")});
  fails(1, "mask",
        {ring_, "--init", Write("init.csv", "1,0,1\n0,1,1\n"), "--clamp", Write("mask.csv", "1,0\n")});
  fails(1, "column 2", {ring_, "--init", Write("bad.csv", "1,2,1\n")});
  fails(2, "--block must lie in [1, 12], not 40", {ring_, "--sampler", "block-gibbs", "--block", "40"});
  fails(2, "--step-size must lie in (0, inf), not 0", {ring_, "--sampler", "dmala", "--step-size", "0"});
  fails(2, "--temperatures must lie in [2,", {ring_, "--sampler", "tempering", "--temperatures", "1"});
  fails(2, "--lowest-beta must lie in (0, 1), not 1",
        {ring_, "--sampler", "tempering", "--lowest-beta", "1"});
  fails(2, "--threads must lie in [0,", {ring_, "--threads", "-1"});
  fails(2, "HEIGHTxWIDTH", {ring_, "--png", folder_.File("x.png"), "--shape", "3"});
  fails(2, "--png needs --shape", {ring_, "--png", folder_.File("x.png")});
  fails(2, "--shape has no effect without --png", {ring_, "--shape", "3x1"});
  fails(2, "3 variables", {ring_, "--png", folder_.File("x.png"), "--shape", "2x2"});
  fails(2, "each of the 2 rows",
        {ring_, "--clamp", Write("holes.csv", "a,b,c\n1,,\n,?,0\n"), "--chains", "1"});
  fails(2, "--samples must be 2 or more: each of the 2 rows with kept values needs a sample",
        {ring_, "--clamp", Write("holes.csv", "a,b,c\n1,,\n,?,0\n"), "-n", "1"});
  fails(2, "finite", {ring_, "--beta", "nan"});
  fails(2, "--trace would", {ring_, "--trace", ring_});
  fails(2, "--trace would write to", {ring_, "--trace", out});
  fails(2, "ends in .png", {ring_, "--shape", "3x1", "--png", folder_.File("grid")});
  EXPECT_EQ(Run({ring_, "--json", "-o", "-"}).exit_code, 2);
  EXPECT_EQ(Run({ring_, "--json", "--trace", "-", "-o", out}).exit_code, 2);
}

TEST_F(Sample, InterruptedItKeepsTheSamplesDrawnOrNothing) {
  const std::string out = folder_.File("x.npy");
  {
    CommandProcess process({"sample", soft_, "-n", "1000", "--steps", "100000000", "-o", out});
    std::this_thread::sleep_for(std::chrono::seconds(1));
    process.Signal(SIGINT);
    const CommandResult result = process.Wait();
    EXPECT_EQ(result.exit_code, 130);
    EXPECT_THAT(result.err, HasSubstr("nothing was written"));
    EXPECT_FALSE(std::filesystem::exists(out));
  }
  CommandProcess process({"sample", soft_, "-n", "10000000", "--chains", "10", "--burn-in", "0", "--thin",
                          "1", "--steps", "1000000", "-o", out});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  process.Signal(SIGINT);
  const CommandResult result = process.Wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("samples drawn so far"));
  const RowTable partial = ReadRows(out);
  EXPECT_GT(partial.rows, 0);
  EXPECT_EQ(partial.rows % 10, 0);
  // Nothing else is left behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 3);
}

TEST(IsingData, HasTheCorrelationOfTheRing) {
  const TempDir folder;
  // A 1 x 8 lattice is a ring of 8 spins, each pair coupled by 2 sigma = K: neighbours agree with correlation
  // (t + t^7) / (1 + t^8), t = tanh K.
  const CommandResult result =
      RunOrtEd({"data", "ising", "--shape", "1x8", "--sigma", "0.2", "-n", "20000", "--steps", "403", "-o",
                folder.File("x.npy"), "--couplings", folder.File("J.npy")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const RowTable table = ReadRows(folder.File("x.npy"));
  ASSERT_EQ(table.rows, 20000);
  double sum = 0;
  for (int64_t row = 0; row < table.rows; ++row)
    for (int i = 0; i < 8; ++i) sum += table.Row(row)[i] == table.Row(row)[(i + 1) % 8] ? 1 : -1;
  const double t = std::tanh(0.4);
  const double expected = (t + std::pow(t, 7)) / (1 + std::pow(t, 8));
  // Means of 20,000 independent rows of at most 1 in size: standard error below 1 / sqrt(20000) = 0.007.
  EXPECT_NEAR(sum / (8 * 20000), expected, 5 * 0.007 / std::sqrt(2));
  const NpyArray couplings = ReadNpy(folder.File("J.npy"));
  EXPECT_THAT(couplings.shape, testing::ElementsAre(8, 8));
  EXPECT_NEAR(couplings.values[0 * 8 + 7], 0.2, 1e-7);
  EXPECT_EQ(couplings.values[0 * 8 + 2], 0);
}

TEST(IsingData, RowsDependOnSeedAndNumberOnly) {
  const TempDir folder;
  const auto draw = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"data",    "ising", "--shape", "4x4",
                                          "--steps", "100",   "-o",      folder.File("x.npy")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(RunOrtEd(arguments).exit_code, 0);
    return ReadRows(folder.File("x.npy")).values;
  };
  const auto many = draw({"-n", "5000", "--threads", "1"});
  auto few = draw({"-n", "4500", "--threads", "2"});
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(draw({"-n", "4500", "--seed", "2"}), few);
}

}  // namespace
}  // namespace ort_ed
