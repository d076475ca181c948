#include "models/architectures/architectures.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_file.h"
#include "models/graph/standard_domain.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"
#include "tests/models/run_model.h"

namespace ort_ed {
namespace {

using Row = std::vector<double>;

// The energies once more, by plain loops in double precision over the parameters of the file.
struct Reference {
  const onnx::ModelProto& model;
  const EnergySpec& spec;
  int64_t dimension;

  Row Parameter(const std::string& name) const {
    const std::vector<float> values = ParameterValues(model, name);
    return {values.begin(), values.end()};
  }
  bool Has(const std::string& name) const {
    for (const auto& tensor : model.graph().initializer()) {
      if (tensor.name() == name) return true;
    }
    return false;
  }
  std::string Option(const std::string& name, const std::string& otherwise) const {
    const OptionMap& options = spec.architecture.options;
    return options.contains(name) ? FormatOption(options.at(name)) : otherwise;
  }
};

Row Affine(const Reference& reference, const std::string& name, const Row& x) {
  const Row weight = reference.Parameter(name + ".weight");
  Row y = reference.Parameter(name + ".bias");
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < y.size(); ++j) y[j] += x[i] * weight[i * y.size() + j];
  }
  return y;
}

// `unit_size`: values that share one learned slope.
void Activate(const Reference& reference, const std::string& name, Row& y, size_t unit_size) {
  const std::string activation = reference.Option("activation", "swish");
  const Row slope = reference.Has(name + ".slope") ? reference.Parameter(name + ".slope") : Row{1};
  for (size_t i = 0; i < y.size(); ++i) {
    const double v = y[i];
    const double beta = slope.size() == 1 ? slope[0] : slope[i / unit_size];
    if (activation == "swish") y[i] = v / (1 + std::exp(-beta * v));
    if (activation == "relu") y[i] = std::max(v, 0.0);
    if (activation == "tanh") y[i] = std::tanh(v);
    if (activation == "softplus") y[i] = std::log1p(std::exp(v));
  }
}

double MlpEnergy(const Reference& reference, Row x) {
  if (reference.Option("input", "bits") == "spins") {
    for (double& value : x) value = 2 * value - 1;
  }
  const auto layers = Split(reference.Option("hidden", "256,256,256"), ',').size();
  for (size_t layer = 1; layer <= layers; ++layer) {
    const std::string name = "hidden" + std::to_string(layer);
    x = Affine(reference, name, x);
    Activate(reference, name, x, 1);
  }
  return Affine(reference, "output", x)[0];
}

double RbmEnergy(const Reference& reference, const Row& x) {
  const Row weight = reference.Parameter("weight");
  const Row visible = reference.Parameter("visible_bias");
  Row hidden = reference.Parameter("hidden_bias");
  double energy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    energy -= visible[i] * x[i];
    for (size_t j = 0; j < hidden.size(); ++j) hidden[j] += x[i] * weight[i * hidden.size() + j];
  }
  for (const double h : hidden) energy -= std::log1p(std::exp(h));
  return energy;
}

double IsingEnergy(const Reference& reference, const Row& x) {
  const Row g = reference.Parameter("G");
  const Row field = reference.Has("b") ? reference.Parameter("b") : Row(x.size(), 0.0);
  const size_t n = x.size();
  double energy = 0;
  for (size_t i = 0; i < n; ++i) {
    energy -= field[i] * (2 * x[i] - 1);
    for (size_t j = 0; j < n; ++j) {
      if (i != j) energy -= (g[i * n + j] + g[j * n + i]) / 2 * (2 * x[i] - 1) * (2 * x[j] - 1);
    }
  }
  return energy;
}

struct Image {
  int64_t channels, height, width;
  Row pixels;
  double At(int64_t c, int64_t i, int64_t j) const {
    const bool inside = i >= 0 && i < height && j >= 0 && j < width;
    return inside ? pixels[(c * height + i) * width + j] : 0;
  }
};

Image Convolve(const Reference& reference, const std::string& name, const Image& x, int64_t kernel,
               int64_t stride) {
  const Row weight = reference.Parameter(name + ".weight");
  const Row bias = reference.Parameter(name + ".bias");
  Image y{static_cast<int64_t>(bias.size()),
          (x.height + stride - 1) / stride,
          (x.width + stride - 1) / stride,
          {}};
  for (int64_t c = 0; c < y.channels; ++c) {
    for (int64_t i = 0; i < y.height; ++i) {
      for (int64_t j = 0; j < y.width; ++j) {
        double sum = bias[c];
        for (int64_t d = 0; d < x.channels; ++d) {
          for (int64_t k = 0; k < kernel * kernel; ++k) {
            sum += weight[(c * x.channels + d) * kernel * kernel + k] *
                   x.At(d, i * stride + k / kernel - kernel / 2, j * stride + k % kernel - kernel / 2);
          }
        }
        y.pixels.push_back(sum);
      }
    }
  }
  return y;
}

double ResnetEnergy(const Reference& reference, const Row& x) {
  const auto& shape = reference.spec.image_shape;
  const int64_t downsample = std::stoi(reference.Option("downsample", "2"));
  const int64_t blocks = downsample + std::stoi(reference.Option("blocks", "6"));
  Image features = Convolve(reference, "input", {1, shape[0], shape[1], x}, 3, 1);
  for (int64_t block = 1; block <= blocks; ++block) {
    const std::string name = "block" + std::to_string(block);
    const int64_t stride = block <= downsample ? 2 : 1;
    Image inner = Convolve(reference, name + ".conv1", features, 3, stride);
    const auto area = static_cast<size_t>(inner.height * inner.width);
    Activate(reference, name + ".conv1", inner.pixels, area);
    inner = Convolve(reference, name + ".conv2", inner, 3, 1);
    const Image shortcut =
        stride == 1 ? features : Convolve(reference, name + ".shortcut", features, 1, stride);
    for (size_t i = 0; i < inner.pixels.size(); ++i) inner.pixels[i] += shortcut.pixels[i];
    Activate(reference, name + ".conv2", inner.pixels, area);
    features = inner;
  }
  Row mean(features.channels, 0.0);
  const auto area = static_cast<size_t>(features.height * features.width);
  for (size_t i = 0; i < features.pixels.size(); ++i)
    mean[i / area] += features.pixels[i] / static_cast<double>(area);
  return Affine(reference, "output", mean)[0];
}

double MadeEnergy(const Reference& reference, const Row& x) {
  Row features = x;
  for (size_t layer = 1; layer <= Split(reference.Option("hidden", "512"), ',').size(); ++layer) {
    features = Affine(reference, "base/hidden" + std::to_string(layer), features);
    for (double& value : features) value /= 1 + std::exp(-value);
  }
  Row log_odds = Affine(reference, "base/output", features);
  const Row direct = reference.Parameter("base/direct.weight");
  double energy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) log_odds[i] += x[j] * direct[j * x.size() + i];
    energy += std::log1p(std::exp(log_odds[i])) - x[i] * log_odds[i];
  }
  return energy;
}

double ReferenceEnergy(const Reference& reference, const Row& x) {
  if (reference.spec.architecture.kind == "ising") return IsingEnergy(reference, x);
  if (reference.spec.architecture.kind == "rbm") return RbmEnergy(reference, x);
  if (reference.spec.architecture.kind == "mlp") return MlpEnergy(reference, x);
  if (reference.spec.architecture.kind == "made") return MadeEnergy(reference, x);
  return ResnetEnergy(reference, x);
}

struct Case {
  std::string name;
  EnergySpec spec;
};

std::vector<Case> Cases() {
  return {
      {"IsingDense", {.architecture = "ising", .dimension = 7}},
      {"IsingField", {.architecture = {"ising", {{"field", "0.3"}}}, .dimension = 5}},
      {"IsingZero", {.architecture = {"ising", {{"init", "zero"}, {"field", "0"}}}, .dimension = 4}},
      {"IsingLattice",
       {.architecture = {"ising", {{"init", "lattice"}, {"coupling", "-0.1"}}}, .image_shape = {3, 5}}},
      {"IsingOneSpin", {.architecture = {"ising", {{"field", "1"}}}, .dimension = 1}},
      {"Rbm", {.architecture = {"rbm", {{"hidden", "9"}}}, .dimension = 6}},
      {"RbmOneByOne", {.architecture = {"rbm", {{"hidden", "1"}}}, .dimension = 1}},
      {"MlpDefault", {.architecture = "mlp", .dimension = 32}},
      {"MlpFixedSlope", {.architecture = {"mlp", {{"hidden", "8"}, {"slope", "fixed"}}}, .dimension = 5}},
      {"MlpUnitSlope", {.architecture = {"mlp", {{"hidden", "8,3"}, {"slope", "unit"}}}, .dimension = 5}},
      {"MlpRelu", {.architecture = {"mlp", {{"hidden", "7,1,4"}, {"activation", "relu"}}}, .dimension = 1}},
      {"MlpTanh", {.architecture = {"mlp", {{"hidden", "5"}, {"activation", "tanh"}}}, .dimension = 3}},
      {"MlpSoftplus",
       {.architecture = {"mlp", {{"hidden", "5,5"}, {"activation", "softplus"}}}, .dimension = 3}},
      {"MlpOfSpins", {.architecture = {"mlp", {{"hidden", "6"}, {"input", "spins"}}}, .dimension = 4}},
      {"Made", {.architecture = {"made", {{"hidden", "6"}}}, .dimension = 5}},
      {"MadeDeepRandomOrder",
       {.architecture = {"made", {{"hidden", "6,4"}, {"order", "random"}}}, .dimension = 5}},
      {"MadeOneVariable", {.architecture = {"made", {{"hidden", "2"}}}, .dimension = 1}},
      {"ResnetSmall",
       {.architecture = {"resnet", {{"channels", "4"}, {"blocks", "1"}}}, .image_shape = {8, 8}}},
      {"ResnetOddSize",
       {.architecture = {"resnet", {{"channels", "3"}, {"blocks", "1"}, {"slope", "unit"}}},
        .image_shape = {7, 5}}},
      {"ResnetOnePixel",
       {.architecture = {"resnet", {{"channels", "2"}, {"slope", "layer"}}}, .image_shape = {1, 1}}},
      {"ResnetNoBlocks",
       {.architecture = {"resnet", {{"channels", "2"}, {"blocks", "0"}, {"downsample", "0"}}},
        .image_shape = {3, 4}}},
      {"ResnetTanh",
       {.architecture = {"resnet",
                         {{"channels", "2"}, {"downsample", "1"}, {"blocks", "1"}, {"activation", "tanh"}}},
        .dimension = 6,
        .image_shape = {2, 3}}},
  };
}

class EveryArchitecture : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Models, EveryArchitecture, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(EveryArchitecture, PassesTheCheckerAndKeepsTheContract) {
  const onnx::ModelProto model = BuildModel(GetParam().spec);
  CheckOnnx(model, "test");
  const EnergyContract contract = CheckContract(model, "test");
  EXPECT_EQ(contract.input, "x");
  EXPECT_EQ(contract.output, "energy");
  EXPECT_EQ(contract.output_rank, 1);
  EXPECT_EQ(StandardOpset(model), 17);
  EXPECT_EQ(model.ir_version(), 8);
  for (const auto& node : model.graph().node()) EXPECT_EQ(node.domain(), "");
}

TEST_P(EveryArchitecture, GivesTheEnergiesOfAPlainComputation) {
  constexpr int64_t kRows = 16;
  const EnergySpec& spec = GetParam().spec;
  onnx::ModelProto model = BuildModel(spec);
  const int64_t dimension = CheckContract(model, "test").dimension;
  const std::vector<float> rows = RandomRows(kRows, dimension);
  for (const bool randomise : {false, true}) {
    if (randomise) RandomiseParameters(model, 0.3);
    const std::vector<float> energies = RunModel(model, rows, {kRows, dimension});
    ASSERT_EQ(energies.size(), size_t{kRows});
    for (int64_t row = 0; row < kRows; ++row) {
      const Row x(rows.begin() + row * dimension, rows.begin() + (row + 1) * dimension);
      const double expected = ReferenceEnergy({model, spec, dimension}, x);
      EXPECT_NEAR(energies[row], expected, 2e-5 * (1 + std::abs(expected)));
    }
  }
}

TEST_P(EveryArchitecture, IsReproducible) {
  EnergySpec spec = GetParam().spec;
  spec.seed = 5;
  EXPECT_EQ(SerializeModel(BuildModel(spec)), SerializeModel(BuildModel(spec)));
  const bool is_random = spec.architecture.kind != "ising" || !spec.architecture.options.contains("init");
  EnergySpec other = spec;
  other.seed = 6;
  if (is_random && GetParam().name != "IsingOneSpin") {
    EXPECT_NE(SerializeModel(BuildModel(spec)), SerializeModel(BuildModel(other)));
  }
}

TEST_P(EveryArchitecture, EveryFloatInitialiserIsUsed) {
  const onnx::ModelProto model = BuildModel(GetParam().spec);
  std::set<std::string> used;
  for (const auto& node : model.graph().node()) used.insert(node.input().begin(), node.input().end());
  for (const auto& tensor : model.graph().initializer()) {
    EXPECT_EQ(tensor.data_type(), onnx::TensorProto::FLOAT);
    EXPECT_TRUE(used.contains(tensor.name())) << tensor.name();
  }
}

TEST(Architectures, EveryOneHasACase) {
  std::set<std::string> covered;
  for (const Case& test : Cases()) covered.insert(test.spec.architecture.kind);
  for (const ArchitectureKind* architecture : Architectures())
    EXPECT_TRUE(covered.contains(architecture->name));
}

// J as ONNX Runtime computes it from an arbitrary G.
TEST(Ising, CouplingsAreSymmetricWithZeroDiagonalWhateverGIs) {
  constexpr int64_t kDimension = 6;
  onnx::ModelProto model = BuildModel({.architecture = "ising", .dimension = kDimension});
  RandomiseParameters(model, 1);
  GraphBuilder graph(model);
  graph.Output(graph.Existing("J"), std::vector{kDimension, kDimension});
  const std::vector<float> j = RunModel(model, RandomRows(1, kDimension), {1, kDimension}, "J");
  const std::vector<float> g = ParameterValues(model, "G");
  for (int64_t row = 0; row < kDimension; ++row) {
    for (int64_t column = 0; column < kDimension; ++column) {
      const int64_t here = row * kDimension + column, there = column * kDimension + row;
      EXPECT_EQ(j[here], j[there]);
      EXPECT_EQ(j[here], row == column ? 0 : (g[here] + g[there]) * 0.5f);
    }
  }
}

TEST(Ising, LatticeIsThePeriodicNeighbourhoodTimesSigma) {
  const EnergySpec spec{.architecture = {"ising", {{"init", "lattice"}, {"coupling", "0.25"}}},
                        .image_shape = {3, 4}};
  const std::vector<float> g = ParameterValues(BuildModel(spec), "G");
  const auto distance = [](int64_t a, int64_t b, int64_t n) {
    return std::min((a - b + n) % n, (b - a + n) % n);
  };
  for (int64_t a = 0; a < 12; ++a) {
    for (int64_t b = 0; b < 12; ++b) {
      const bool neighbours = distance(a / 4, b / 4, 3) + distance(a % 4, b % 4, 4) == 1;
      EXPECT_EQ(g[a * 12 + b], neighbours ? 0.25f : 0.0f) << a << " " << b;
    }
  }
}

TEST(Ising, LatticeReachesAsFarAsAsked) {
  EnergySpec spec{.architecture = {"ising", {{"init", "lattice"}}}, .image_shape = {5, 7}};
  const auto neighbours = [&](const char* reach) {
    spec.architecture.options["reach"] = reach;
    const std::vector<float> g = ParameterValues(BuildModel(spec), "G");
    return std::count_if(g.begin(), g.begin() + 35, [](float coupling) { return coupling != 0; });
  };
  EXPECT_EQ(neighbours("1"), 4);
  EXPECT_EQ(neighbours("1.5"), 8);
  EXPECT_EQ(neighbours("2"), 12);
  EXPECT_EQ(neighbours("100"), 34);
}

TEST(Ising, DenseCouplingsHaveTheLawOfTheReference) {
  constexpr int64_t kDimension = 100;
  const std::vector<float> g =
      ParameterValues(BuildModel({.architecture = "ising", .dimension = kDimension}), "G");
  double sum_of_squares = 0;
  for (int64_t i = 0; i < kDimension; ++i) {
    EXPECT_EQ(g[i * kDimension + i], 0);
    for (int64_t j = 0; j < i; ++j) {
      EXPECT_EQ(g[i * kDimension + j], g[j * kDimension + i]);
      sum_of_squares += double{g[i * kDimension + j]} * g[i * kDimension + j];
    }
  }
  constexpr double kPairs = kDimension * (kDimension - 1) / 2.0;
  constexpr double kVariance = 0.01 * 0.01 / 2;  // of the mean of two draws
  EXPECT_NEAR(sum_of_squares / kPairs, kVariance, 4 * kVariance * std::sqrt(2 / kPairs));
}

TEST(Mlp, WeightsStartUniformWithinOneOverTheRootOfTheFanIn) {
  const onnx::ModelProto model = BuildModel({.architecture = {"mlp", {{"hidden", "200"}}}, .dimension = 64});
  const std::vector<float> weight = ParameterValues(model, "hidden1.weight");
  const auto [low, high] = std::ranges::minmax(weight);
  EXPECT_GE(low, -0.125f);
  EXPECT_LE(high, 0.125f);
  EXPECT_LT(low, -0.12f);  // 12,800 draws miss the outer 4 % with probability e^-260
  EXPECT_GT(high, 0.12f);
  EXPECT_THAT(ParameterValues(model, "hidden1.slope"), testing::ElementsAre(1));
}

TEST(Resnet, HasTheShapesOfTheReferenceNetwork) {
  const onnx::ModelProto model = BuildModel({.architecture = "resnet", .image_shape = {28, 28}});
  const ModelSummary summary = Summarise(model, "test", {});
  // 3x3 convolutions 1->64, 16 of 64->64, two 1x1 shortcuts, a linear layer; each with its bias.
  EXPECT_EQ(summary.ParameterCount(), (9 * 64 + 64) + 16 * (9 * 64 * 64 + 64) + 2 * (64 * 64 + 64) + 65);
}

}  // namespace
}  // namespace ort_ed
