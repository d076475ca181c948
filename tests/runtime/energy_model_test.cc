#include "ort_ed/energy_model.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include "runtime/session.h"
#include "runtime/support/encoding/base64.h"
#include "runtime/support/files/atomic_file.h"
#include "tests/support/binary_rows.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

EnergyModel Load(const std::string& model, const LoadOptions& options = {}) {
  return EnergyModel::FromMemory(Bytes(model), options);
}

// Energies by ONNX Runtime alone, cut into batches of `batch` rows.
std::vector<float> BareEnergies(const std::string& model, const BinaryRows& rows, int64_t dimension,
                                int64_t batch, int threads) {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(threads);
  Ort::Session session(Environment(), model.data(), model.size(), options);
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const char* x = "x";
  const char* energy = "energy";
  std::vector<float> energies;
  const int64_t count = std::ssize(rows.floats) / dimension;
  for (int64_t first = 0; first < count; first += batch) {
    const int64_t shape[] = {std::min(batch, count - first), dimension};
    const Ort::Value input = Ort::Value::CreateTensor<float>(
        memory, const_cast<float*>(&rows.floats[static_cast<size_t>(first * dimension)]),
        static_cast<size_t>(shape[0] * dimension), shape, 2);
    const auto outputs = session.Run(Ort::RunOptions{nullptr}, &x, &input, 1, &energy, 1);
    const float* values = outputs[0].GetTensorData<float>();
    energies.insert(energies.end(), values, values + shape[0]);
  }
  return energies;
}

TEST(EnergyModel, ABatchTakesMemoryForTheRowsThereAre) {
  const EnergyModel model = Load(LinearModel(3), {.batch_rows = int64_t{1} << 50});
  std::vector<float> energies(2);
  model.Energy(std::vector<uint8_t>{1, 0, 0, 1, 1, 1}, energies);
  EXPECT_THAT(energies, ElementsAre(1, 6));
}

TEST(EnergyModel, ScoresTheThreeFormsOfRowsAlike) {
  for (const int64_t dimension : {1, 3, 8, 13, 64, 100}) {
    const EnergyModel model = Load(LinearModel(dimension), {.batch_rows = 7});
    ASSERT_EQ(model.dimension(), dimension);
    for (const int64_t count : {1, 6, 7, 8, 50}) {
      const BinaryRows rows(count, dimension);
      std::vector<float> expected(static_cast<size_t>(count));
      for (size_t i = 0; i < rows.bytes.size(); ++i)
        expected[i / static_cast<size_t>(dimension)] +=
            static_cast<float>(rows.bytes[i] * (i % static_cast<size_t>(dimension) + 1));
      std::vector<float> energies(expected.size());
      model.Energy(rows.floats, energies);
      EXPECT_THAT(energies, ElementsAreArray(expected));
      model.EnergyUnchecked(rows.floats, energies);
      EXPECT_THAT(energies, ElementsAreArray(expected));
      model.Energy(rows.bytes, energies);
      EXPECT_THAT(energies, ElementsAreArray(expected));
      model.EnergyPacked(rows.packed, energies);
      EXPECT_THAT(energies, ElementsAreArray(expected));
    }
  }
}

TEST(EnergyModel, AgreesWithBareOnnxRuntimeToTheBit) {
  constexpr int64_t kDimension = 64;
  for (const std::string& bytes : {MlpModel(kDimension, {48, 48}), ConvolutionModel(8, 8, 2)}) {
    for (const int threads : {1, 2}) {
      for (const int64_t batch : {1, 32, 33}) {
        const BinaryRows rows(100, kDimension);
        const auto expected = BareEnergies(bytes, rows, kDimension, batch, threads);
        const EnergyModel model = Load(bytes, {.threads = threads, .batch_rows = batch});
        std::vector<float> energies(expected.size());
        model.Energy(rows.floats, energies);
        EXPECT_THAT(energies, ElementsAreArray(expected));
        model.EnergyPacked(rows.packed, energies);
        EXPECT_THAT(energies, ElementsAreArray(expected));
      }
    }
  }
}

TEST(EnergyModel, LoadsFromAFileAndAcceptsAColumnOfEnergies) {
  const TempDir folder;
  WriteFileAtomically(folder.File("m.onnx"), ModelFromText(R"(
      <ir_version: 8, opset_import: ["": 17]>
      g (float[N, 2] data) => (float[N, 1] anything) { w = Constant <value = float[2, 1] {1.0, 10.0}> ()
        anything = MatMul(data, w) })"));
  const EnergyModel model = EnergyModel::FromFile(folder.File("m.onnx"));
  std::vector<float> energies(2);
  model.Energy(std::vector<float>{1, 0, 1, 1}, energies);
  EXPECT_THAT(energies, ElementsAre(1, 11));
  EXPECT_EQ(ToString(model.device()), "cpu");
}

TEST(EnergyModel, TakesTheOutputCalledEnergyAmongSeveral) {
  const EnergyModel model = Load(ModelFromText(R"(
      <ir_version: 8, opset_import: ["": 17]>
      g (float[N, 2] x) => (float[N, 2] twice, float[N] energy) { axes = Constant <value = int64[1] {1}> ()
        twice = Add(x, x)
        energy = ReduceSum <keepdims = 0> (twice, axes) })"));
  std::vector<float> energies(1);
  model.Energy(std::vector<uint8_t>{1, 1}, energies);
  EXPECT_THAT(energies, ElementsAre(4));
}

TEST(EnergyModel, NoRowsAreNoWork) {
  const EnergyModel model = Load(LinearModel(3));
  EXPECT_NO_THROW(model.Energy(std::span<const float>(), std::span<float>()));
  EXPECT_NO_THROW(model.Energy(std::span<const uint8_t>(), std::span<float>()));
  EXPECT_NO_THROW(model.EnergyPacked({}, {}));
}

TEST(EnergyModel, ABadValueIsNamedByRowAndColumn) {
  const EnergyModel model = Load(LinearModel(10), {.batch_rows = 4});
  std::vector<float> energies(9);
  for (const float bad :
       {2.0f, -1.0f, 0.5f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    BinaryRows rows(9, 10);
    rows.floats[73] = bad;
    ExpectError(
        ErrorCode::kBadData, [&] { model.Energy(rows.floats, energies); }, "row 7, column 3", "only 0 and 1");
  }
  BinaryRows rows(9, 10);
  rows.bytes[50] = 255;
  ExpectError(
      ErrorCode::kBadData, [&] { model.Energy(rows.bytes, energies); }, "row 5, column 0", "255");
  rows.packed[2 * 8 + 1] |= 1;
  ExpectError(
      ErrorCode::kBadData, [&] { model.EnergyPacked(rows.packed, energies); }, "row 8", "another width");
}

TEST(EnergyModel, SizesThatDoNotFitAreErrors) {
  const EnergyModel model = Load(LinearModel(10));
  std::vector<float> energies(2);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { model.Energy(std::vector<float>(21), energies); }, "21",
      "2 rows of 10");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { model.Energy(std::vector<uint8_t>(30), energies); }, "30");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { model.EnergyPacked(std::vector<uint8_t>(3), energies); },
      "2 rows of 2");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { Load(LinearModel(3), {.batch_rows = -1}); }, "batch");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { Load(LinearModel(32), {.batch_rows = int64_t{1} << 62}); },
      "more than memory can hold");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { Load(LinearModel(3), {.threads = -1}); }, "threads");
}

TEST(EnergyModel, LogLikelihoodNeedsALogZ) {
  const EnergyModel without = Load(LinearModel(2));
  EXPECT_FALSE(without.HasLogZ());
  std::vector<double> likelihoods(1);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { without.LogLikelihood(std::vector{1.0f}, likelihoods); }, "log Z",
      "ort-ed logz");
  const EnergyModel with = Load(WithMetadata(LinearModel(2), metadata_key::kLogZ, "0.25"));
  ASSERT_TRUE(with.HasLogZ());
  with.LogLikelihood(std::vector{1.5f}, likelihoods);
  EXPECT_EQ(likelihoods[0], -1.75);
}

TEST(EnergyModel, MetadataThatContradictsTheGraphIsRejected) {
  for (const auto& [key, value] : {std::pair{metadata_key::kDimension, "5"},
                                   {metadata_key::kImageShape, "2x3"},
                                   {metadata_key::kBaseMean, "0.5,0.5"},
                                   {metadata_key::kVariables, R"([{"name":"a"}])"}})
    ExpectError(
        ErrorCode::kBadModel, [&] { Load(WithMetadata(LinearModel(4), key, value)); }, key);
  const EnergyModel model = Load(WithMetadata(LinearModel(4), metadata_key::kImageShape, "2x2"));
  EXPECT_THAT(*model.metadata().image_shape, ElementsAre(2, 2));
}

TEST(EnergyModel, RowsWithTwoStatesOfOneVariableAreRefused) {
  const EnergyModel plain = Load(LinearModel(4));
  EXPECT_TRUE(plain.variables().all_binary());
  EXPECT_EQ(plain.variables().dimension(), 4);
  const EnergyModel model =
      Load(WithMetadata(LinearModel(4), metadata_key::kVariables,
                        R"([{"name":"on"},{"name":"size","kind":"ordered","labels":["S","M","L"]}])"));
  EXPECT_EQ(model.variables()[1].labels.size(), 3u);
  std::vector<float> energies(2);
  model.Energy(std::vector<uint8_t>{1, 0, 1, 0, 0, 0, 0, 1}, energies);
  EXPECT_THAT(energies, ElementsAre(4, 4));
  const auto expect_refusal = [&](auto&& call) {
    ExpectError(ErrorCode::kBadData, call, "in row 1 (from 0)", "'size' (columns 2 to 4, from 1)", "2 ones");
  };
  expect_refusal([&] { model.Energy(std::vector<uint8_t>{1, 0, 1, 0, 0, 1, 0, 1}, energies); });
  expect_refusal([&] { model.Energy(std::vector<float>{1, 0, 1, 0, 0, 1, 0, 1}, energies); });
  expect_refusal([&] { model.EnergyPacked(std::vector<uint8_t>{0xA0, 0x50}, energies); });
}

TEST(EnergyModel, GradientComesFromTheFragmentInTheMetadata) {
  const EnergyModel without = Load(LinearModel(3));
  EXPECT_FALSE(without.HasGradient());
  std::vector<float> energies(2), gradients(6);
  const std::vector<float> rows = {1, 0, 1, 0, 0, 0};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { without.EnergyAndGradient(rows, energies, gradients); }, "gradient",
      "ort-ed export");

  const EnergyModel with = Load(WithLinearGradient(LinearModel(3), 3), {.batch_rows = 1});
  ASSERT_TRUE(with.HasGradient());
  for (int call = 0; call < 2; ++call) {
    with.EnergyAndGradient(rows, energies, gradients);
    EXPECT_THAT(energies, ElementsAre(4, 0));
    EXPECT_THAT(gradients, ElementsAre(1, 2, 3, 1, 2, 3));
  }
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] { with.EnergyAndGradient(rows, energies, std::span(gradients).first(5)); }, "5 values");
}

TEST(EnergyModel, ADamagedGradientIsAnError) {
  ExpectError(
      ErrorCode::kBadModel,
      [] { Load(WithMetadata(LinearModel(3), metadata_key::kGradientFragment, "not base64!")); }, "gradient",
      "damaged");
  const EnergyModel model = Load(WithMetadata(LinearModel(3), metadata_key::kGradientFragment, "////"));
  std::vector<float> energies(1), gradients(3);
  for (int call = 0; call < 2; ++call)
    ExpectError(
        ErrorCode::kBadModel,
        [&] {
          model.EnergyAndGradient(std::vector<float>{0, 0, 0}, energies, gradients);
        },
        "gradient");
}

TEST(EnergyModel, BatchesSideBySideGiveTheSameAndNameTheFirstBadRow) {
  constexpr int64_t kDimension = 20, kRows = 20000;
  const EnergyModel one = Load(LinearModel(kDimension), {.threads = 1});
  BinaryRows rows(kRows, kDimension);
  std::vector<float> expected(kRows), energies(kRows);
  one.Energy(rows.bytes, expected);
  for (int64_t batch : {0, 64, 1000}) {
    const EnergyModel several = Load(LinearModel(kDimension), {.threads = 4, .batch_rows = batch});
    for (int call = 0; call < 3; ++call) {  // the first learns what a row costs
      std::ranges::fill(energies, -1.0f);
      several.EnergyPacked(rows.packed, energies);
      ASSERT_EQ(energies, expected) << "batch " << batch;
    }
  }
  const EnergyModel several = Load(LinearModel(kDimension), {.threads = 4});
  several.Energy(rows.bytes, energies);
  rows.bytes[15000 * kDimension] = 2;
  rows.bytes[10000 * kDimension + 3] = 2;
  for (int call = 0; call < 5; ++call) {
    ExpectError(
        ErrorCode::kBadData, [&] { several.Energy(rows.bytes, energies); }, "row 10000, column 3");
  }
}

TEST(EnergyModel, EightThreadsScoreOnOneModel) {
  constexpr int64_t kDimension = 20;
  const EnergyModel model =
      Load(WithLinearGradient(LinearModel(kDimension), kDimension), {.threads = 2, .batch_rows = 16});
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t round = 0; round < 10; ++round) {
        const BinaryRows rows(100, kDimension, 100 * t + round);
        std::vector<float> energies[4];
        for (auto& e : energies) e.resize(100);
        std::vector<float> gradients(rows.floats.size());
        model.Energy(rows.floats, energies[0]);
        model.Energy(rows.bytes, energies[1]);
        model.EnergyPacked(rows.packed, energies[2]);
        model.EnergyAndGradient(rows.floats, energies[3], gradients);
        for (size_t row = 0; row < 100; ++row) {
          float expected = 0;
          for (size_t i = 0; i < kDimension; ++i)
            expected += static_cast<float>(rows.bytes[row * kDimension + i] * (i + 1));
          for (const auto& e : energies) wrong[t] += e[row] != expected;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(Base64, RoundTripsAndRejectsWhatItIsNot) {
  for (const char* text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    const std::string original = text;
    const auto decoded = Base64Decode(Base64Encode(Bytes(original)));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(decoded->data()), decoded->size()), original);
  }
  EXPECT_EQ(Base64Encode(Bytes("fooba")), "Zm9vYmE=");
  for (const char* text : {"Z", "Zm9v!mE=", "====", "Zm9vYmE"}) EXPECT_FALSE(Base64Decode(text)) << text;
}

}  // namespace
}  // namespace ort_ed
