#include "trainer/learner/learner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/model_file.h"
#include "ort_ed/random.h"
#include "runtime/session.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/trainer/small_models.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/learner/step_graph.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

using ::testing::UnorderedElementsAre;

constexpr int kDimension = 6, kWidth = 5, kNegatives = 4;

LearnerOptions Options(int threads = 1) {
  LearnerOptions options;
  options.optimizer.clip = 5;
  options.optimizer.ema = 0.9;
  options.threads = threads;
  return options;
}

LearnerOptions InParts(LearnerOptions options, int64_t micro_batch) {
  options.micro_batch = micro_batch;
  return options;
}

Learner MakeLearner(const onnx::ModelProto& model, const LearnerOptions& options = Options(),
                    bool weighted = false) {
  return Learner(Prepare(model), options, {kNegatives, weighted});
}

Choice Method(const std::string& name) {
  return name == "bernoulli" ? Choice(name, {{"epsilon", 0.3}}) : Choice(name);
}

ContrastiveBatch Batch(int64_t step, int64_t positives = 10, const char* method = "bernoulli") {
  const auto source = MakeNegatives(Method(method), {.dimension = kDimension});
  ContrastiveBatch batch(positives, kNegatives, kDimension, source->shape(kNegatives).weighted);
  RandomStream random(5, 1, static_cast<uint64_t>(step), 0);
  for (int64_t i = 0; i < positives; ++i) {
    for (uint8_t& bit : batch.Positive(i)) bit = random.Bernoulli(0.7f);
  }
  source->Fill({.seed = 5, .step = step}, batch);
  return batch;
}

std::vector<StateTensor> TrainedState(Learner& training, int first, int last,
                                      const char* method = "bernoulli") {
  for (int step = first; step <= last; ++step) {
    EXPECT_TRUE(training.Step(Batch(step, 10, method), 0.05, step).finite());
  }
  return training.ReadState();
}

void ExpectSame(const std::vector<StateTensor>& a, const std::vector<StateTensor>& b, double tolerance = 0) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].kind, b[i].kind);
    EXPECT_EQ(a[i].parameter, b[i].parameter);
    EXPECT_EQ(a[i].shape, b[i].shape);
    ASSERT_EQ(a[i].values.size(), b[i].values.size());
    for (size_t k = 0; k < a[i].values.size(); ++k) {
      EXPECT_NEAR(a[i].values[k], b[i].values[k], tolerance)
          << a[i].kind << " of " << a[i].parameter << "[" << k << "]";
    }
  }
}

const StateTensor& Piece(const std::vector<StateTensor>& state, const std::string& kind,
                         const std::string& parameter) {
  for (const StateTensor& tensor : state) {
    if (tensor.kind == kind && tensor.parameter == parameter) return tensor;
  }
  throw std::out_of_range(kind + " of " + parameter);
}

// The gradient that a step of plain descent with a rate of 1 shows, against central differences of the loss.
TEST(Learner, GradientIsThatOfTheLoss) {
  for (const char* method : {"bernoulli", "neighbourhood"}) {
    LearnerOptions options = Options();
    options.optimizer.optimizer = OptimizerKind::kSgd;
    options.optimizer.momentum = 0;
    options.optimizer.clip = 0;
    options.optimizer.ema = 0;
    const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
    Learner training = MakeLearner(model, options, std::string(method) == "neighbourhood");
    const ContrastiveBatch batch = Batch(1, 10, method);
    const std::vector<StateTensor> before = training.ReadState();
    const StepResult result = training.Step(batch, 1, 1);
    const std::vector<StateTensor> after = training.ReadState();
    double squares = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i].kind != "parameters") continue;
      for (size_t k = 0; k < before[i].values.size(); ++k) {
        const double gradient = before[i].values[k] - after[i].values[k];
        squares += gradient * gradient;
        const auto loss_at = [&](float shift) {
          std::vector<StateTensor> moved = before;
          moved[i].values[k] += shift;
          training.WriteState(moved);
          return training.Evaluate(batch).loss;
        };
        const double difference = (loss_at(0.01f) - loss_at(-0.01f)) / 0.02;
        EXPECT_NEAR(gradient, difference, 2e-4) << method << " " << before[i].parameter << "[" << k << "]";
      }
    }
    EXPECT_NEAR(result.gradient_norm, std::sqrt(squares), 1e-5);
    training.WriteState(before);
    const ContrastiveLoss evaluated = training.Evaluate(batch);
    EXPECT_FLOAT_EQ(result.loss, evaluated.loss);
    EXPECT_FLOAT_EQ(result.energy_positive, evaluated.energy_positive);
    EXPECT_FLOAT_EQ(result.energy_negative, evaluated.energy_negative);
  }
}

TEST(Learner, StateHasEveryTrainedParameterByName) {
  Learner training = MakeLearner(PerceptronModel(kDimension, kWidth, 1));
  EXPECT_EQ(training.dimension(), kDimension);
  EXPECT_EQ(training.parameter_count(), kDimension * kWidth + kWidth + kWidth + 1);
  const std::vector<StateTensor> state = training.ReadState();
  ASSERT_EQ(state.size(), 4 * 4);  // without "unused"
  EXPECT_EQ(Piece(state, "parameters", "w1").shape, (std::vector<int64_t>{kDimension, kWidth}));
  EXPECT_EQ(Piece(state, "average", "b2").shape, std::vector<int64_t>{});
  EXPECT_EQ(Piece(state, "average", "w1").values, Piece(state, "parameters", "w1").values);
  EXPECT_EQ(Piece(state, "second_moment", "w2").values, std::vector<float>(kWidth));
}

TEST(Learner, StateGoesRoundAndTrainingContinuesBitForBit) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  Learner whole = MakeLearner(model), first = MakeLearner(model), second = MakeLearner(model);
  const std::vector<StateTensor> expected = TrainedState(whole, 1, 9);
  std::vector<StateTensor> saved = TrainedState(first, 1, 4);
  std::reverse(saved.begin(), saved.end());
  second.WriteState(saved);
  ExpectSame(TrainedState(second, 5, 9), expected);
}

// The model with some of the entries of w1 at zero, and all of b1.
onnx::ModelProto SparseModel() {
  onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  const std::vector<ParameterSlot> slots = TrainedParameters(Prepare(model), {});
  std::vector<float> values = FlatParameters(model, slots);
  for (const ParameterSlot& slot : slots) {
    for (int64_t k = slot.offset; k < slot.offset + slot.size; ++k)
      if (slot.name == "b1" || (slot.name == "w1" && k % 3 == 0)) values[k] = 0;
  }
  SetParameters(model, slots, values);
  return model;
}

TEST(Learner, FixedZerosStayWhateverTheOptimiser) {
  std::vector<LearnerOptions> cases(4, Options());
  cases[1].optimizer.optimizer = OptimizerKind::kSgd;
  cases[2].optimizer.optimizer = OptimizerKind::kAdamW;
  for (LearnerOptions& options : cases) {
    options.freeze_zeros = {"w*"};
    options.penalties.weight_decay = 0.01;
    options.penalties.l1 = 1e-4;
  }
  cases[3].penalties.l1_form = L1Form::kSubgradient;
  for (const LearnerOptions& options : cases) {
    for (const int64_t micro_batch : {0, 4}) {
      Learner training = MakeLearner(SparseModel(), InParts(options, micro_batch));
      const std::vector<StateTensor> before = training.ReadState(), after = TrainedState(training, 1, 5);
      for (size_t i = 0; i < before.size(); ++i) {
        if (before[i].kind == "support") {
          EXPECT_EQ(before[i].values, after[i].values);
        }
        if (before[i].kind != "parameters" && before[i].kind != "average") continue;
        if (before[i].parameter == "b2") continue;  // no loss sees a constant, so that l1 alone moves it
        for (size_t k = 0; k < before[i].values.size(); ++k) {
          const bool fixed = before[i].parameter == "w1" && before[i].values[k] == 0;
          EXPECT_EQ(after[i].values[k] == 0, fixed) << before[i].kind << " " << before[i].parameter << k;
        }
      }
    }
  }
}

TEST(Learner, ClippingSeesOnlyWhatMayMove) {
  LearnerOptions options = Options();
  options.optimizer.clip = 0;
  Learner free = MakeLearner(SparseModel(), options);
  options.freeze_zeros = {"w1", "b1"};
  Learner fixed = MakeLearner(SparseModel(), options);
  EXPECT_LT(fixed.Step(Batch(1), 0.01, 1).gradient_norm, free.Step(Batch(1), 0.01, 1).gradient_norm);
}

// What is zero only at the moment of a checkpoint is free to move after it.
TEST(Learner, FixedZerosAreThoseOfTheBeginning) {
  LearnerOptions options = Options();
  options.freeze_zeros = {"*"};
  Learner whole = MakeLearner(SparseModel(), options);
  std::vector<StateTensor> saved = whole.ReadState();
  for (StateTensor& tensor : saved)
    if (tensor.kind == "parameters" && tensor.parameter == "w2") tensor.values[0] = 0;
  whole.WriteState(saved);
  const std::vector<StateTensor> expected = TrainedState(whole, 1, 3);
  EXPECT_NE(Piece(expected, "parameters", "w2").values[0], 0);
  onnx::ModelProto at_checkpoint = SparseModel();
  const std::vector<ParameterSlot> slots = TrainedParameters(Prepare(at_checkpoint), {});
  SetParameters(at_checkpoint, slots, std::vector<float>(static_cast<size_t>(TotalSize(slots))));
  Learner resumed = MakeLearner(at_checkpoint, options);
  resumed.WriteState(saved);
  ExpectSame(TrainedState(resumed, 1, 3), expected);
  options.freeze_zeros = {"w3"};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { MakeLearner(SparseModel(), options); }, "w3");
}

TEST(Learner, SameThreadsSameBits) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 2);
  Learner a = MakeLearner(model, Options(2)), b = MakeLearner(model, Options(2));
  ExpectSame(TrainedState(a, 1, 20), TrainedState(b, 1, 20));
}

TEST(Learner, MicroBatchesGiveTheSameStep) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 3);
  for (const char* method : {"bernoulli", "neighbourhood"}) {
    const bool weighted = std::string(method) == "neighbourhood";
    LearnerOptions options = Options();
    // A constant of the energy has no gradient, and Adam makes steps of its rounding errors.
    options.frozen = {"b2"};
    for (int64_t size : {1, 3, 5, 10, 64}) {  // 3 does not divide the batch of 10
      Learner whole = MakeLearner(model, options, weighted),
              parts = MakeLearner(model, InParts(options, size), weighted);
      for (int step = 1; step <= 3; ++step) {
        const ContrastiveBatch batch = Batch(step, 10, method);
        const StepResult expected = whole.Step(batch, 0.01, step), got = parts.Step(batch, 0.01, step);
        EXPECT_NEAR(got.loss, expected.loss, 1e-5);
        EXPECT_NEAR(got.energy_positive, expected.energy_positive, 1e-5);
        EXPECT_NEAR(got.energy_negative, expected.energy_negative, 1e-5);
        EXPECT_NEAR(got.gradient_norm, expected.gradient_norm, 1e-5);
        EXPECT_NEAR(parts.Evaluate(batch).loss, whole.Evaluate(batch).loss, 1e-5);
      }
      ExpectSame(parts.ReadState(), whole.ReadState(), 1e-4);
    }
  }
}

// One run with all vectors, and pieces of vectors that have penalties and a support of their own.
TEST(Learner, PiecesHaveThePenaltiesOfTheirParameters) {
  for (const L1Form form : {L1Form::kProximal, L1Form::kSubgradient}) {
    LearnerOptions options = Options();
    options.frozen = {"b2"};
    options.freeze_zeros = {"w1"};
    options.penalties.l1 = 0.05;
    options.penalties.l1_form = form;
    options.penalties.l1_parameters = {"w1"};
    options.penalties.weight_decay = 0.5;
    options.penalties.weight_decay_parameters = {"w2", "b1"};
    Learner whole = MakeLearner(SparseModel(), options),
            parts = MakeLearner(SparseModel(), InParts(options, 10));
    for (int step = 1; step <= 3; ++step) {
      const StepResult expected = whole.Step(Batch(step), 0.01, step),
                       got = parts.Step(Batch(step), 0.01, step);
      EXPECT_NEAR(got.gradient_norm, expected.gradient_norm, 1e-5);
      EXPECT_NEAR(got.parameter_norm, expected.parameter_norm, 1e-5);
    }
    ExpectSame(parts.ReadState(), whole.ReadState(), 1e-5);
  }
}

// More than one piece, with parameters across their boundaries.
TEST(Learner, LargeModelsTakeTheSameStepsWithMicroBatches) {
  constexpr int kManyUnits = 90000;
  onnx::ModelProto model = PerceptronModel(kDimension, kManyUnits, 3);
  LearnerOptions options = Options();
  options.optimizer.optimizer = OptimizerKind::kSgd;
  Learner whole = MakeLearner(model, options), parts = MakeLearner(model, InParts(options, 4));
  const std::vector<StateTensor> before = whole.ReadState();
  for (int step = 1; step <= 2; ++step) {
    const StepResult expected = whole.Step(Batch(step), 0.01, step),
                     got = parts.Step(Batch(step), 0.01, step);
    EXPECT_NEAR(got.loss, expected.loss, 1e-3 * (1 + expected.loss));
    EXPECT_NEAR(got.gradient_norm, expected.gradient_norm, 1e-3 * expected.gradient_norm);
    EXPECT_NEAR(got.parameter_norm, expected.parameter_norm, 1e-4 * expected.parameter_norm);
  }
  const std::vector<StateTensor> after = whole.ReadState();
  ExpectSame(parts.ReadState(), after, 1e-4);
  for (const char* name : {"w1", "b1", "w2"}) {
    EXPECT_NE(Piece(after, "parameters", name).values.back(),
              Piece(before, "parameters", name).values.back());
    EXPECT_NE(Piece(after, "parameters", name).values[0], Piece(before, "parameters", name).values[0]);
  }
}

TEST(Learner, LossFallsAndTheAverageFollows) {
  Learner training = MakeLearner(PerceptronModel(kDimension, kWidth, 1));
  const ContrastiveBatch validation = Batch(1000, 200);
  const double before = training.Evaluate(validation).loss;
  TrainedState(training, 1, 200);
  EXPECT_LT(training.Evaluate(validation).loss, before - 0.01);
  EXPECT_LT(training.Evaluate(validation, true).loss, before - 0.01);
  EXPECT_NE(training.Evaluate(validation, true).loss, training.Evaluate(validation).loss);
}

// Every built-in architecture on a base distribution, which is not trained.
TEST(Learner, TrainsTheBuiltInArchitectures) {
  const std::map<std::string, OptionMap> architectures = {
      {"ising", {{"field", "0"}}},
      {"rbm", {{"hidden", "8"}}},
      {"mlp", {{"hidden", "16,16"}}},
      {"resnet", {{"channels", "4"}, {"downsample", "1"}, {"blocks", "1"}}}};
  for (const auto& [name, architecture_options] : architectures) {
    SCOPED_TRACE(name);
    EnergySpec energy;
    energy.architecture = {name, architecture_options};
    energy.dimension = kDimension;
    energy.image_shape = {2, 3};
    energy.base_mean.assign(kDimension, 0.4f);
    Learner training = MakeLearner(BuildModel(energy));
    const ContrastiveBatch validation = Batch(1000, 500);
    const double before = training.Evaluate(validation).loss;
    const std::vector<StateTensor> state = TrainedState(training, 1, 200);
    EXPECT_LT(training.Evaluate(validation, true).loss, before - 0.005);
    for (const StateTensor& tensor : state) EXPECT_EQ(tensor.parameter.find("base"), std::string::npos);
  }
}

TEST(Learner, ExportsParametersOrTheirAverage) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  Learner training = MakeLearner(model);
  const std::vector<StateTensor> state = TrainedState(training, 1, 5);
  for (bool averaged : {false, true}) {
    onnx::ModelProto exported = model;
    training.Export(exported, averaged);
    for (const char* name : {"w1", "b1", "w2", "b2"}) {
      EXPECT_EQ(ParameterValues(exported, name),
                Piece(state, averaged ? "average" : "parameters", name).values);
    }
    EXPECT_EQ(ParameterValues(exported, "unused"), ParameterValues(model, "unused"));
    EXPECT_EQ(exported.graph().node_size(), model.graph().node_size());
  }
}

TEST(Learner, FrozenParametersStay) {
  LearnerOptions options = Options();
  options.frozen = {"w1", "b?"};
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  Learner training = MakeLearner(model, options);
  EXPECT_EQ(training.parameter_count(), kWidth);
  TrainedState(training, 1, 3);
  onnx::ModelProto exported = model;
  training.Export(exported, false);
  EXPECT_EQ(ParameterValues(exported, "w1"), ParameterValues(model, "w1"));
  EXPECT_NE(ParameterValues(exported, "w2"), ParameterValues(model, "w2"));
}

TEST(TrainedParameters, LeaveOutTheStatisticsOfBatchNormalization) {
  const onnx::ModelProto model = ParseModel(ModelFromText(R"(<ir_version: 8, opset_import: ["": 15]>
    normalised (float[batch, 2] x) => (float[batch] energy)
    <float[2] scale = {1, 2}, float[2] shift = {0, 1}, float[2] mean = {0.1, 0.2},
     float[2] variance = {0.5, 0.7}, float[2] w = {1, 2}> {
      y = BatchNormalization(x, scale, shift, mean, variance)
      energy = MatMul(y, w)
    })"),
                                            "normalised");
  EXPECT_THAT(ListNames(TrainedParameters(Prepare(model), {})), UnorderedElementsAre("scale", "shift", "w"));
}

TEST(Learner, PenaltiesReachOnlyTheChosenParameters) {
  LearnerOptions options = Options();
  options.penalties.l1 = 100;
  options.penalties.l1_parameters = {"w1"};
  Learner training = MakeLearner(PerceptronModel(kDimension, kWidth, 1), options);
  const std::vector<StateTensor> state = TrainedState(training, 1, 3);
  EXPECT_EQ(Piece(state, "parameters", "w1").values, std::vector<float>(kDimension * kWidth));
  for (float value : Piece(state, "parameters", "w2").values) EXPECT_NE(value, 0);
}

TEST(Learner, AStepThatIsNotFiniteIsNotTaken) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  for (int64_t micro_batch : {0, 3}) {
    Learner training = MakeLearner(model, InParts(Options(), micro_batch));
    const std::vector<StateTensor> good = TrainedState(training, 1, 3);
    // A learning rate that takes the parameters out of float's range.
    EXPECT_FALSE(training.Step(Batch(4), 1e39, 4).finite());
    ExpectSame(training.ReadState(), good);
    EXPECT_FALSE(training.Step(Batch(4), std::nan(""), 4).finite());
    ExpectSame(training.ReadState(), good);
    // Energies that are not finite.
    std::vector<StateTensor> bad = good;
    bad[0].values[0] = std::numeric_limits<float>::infinity();
    training.WriteState(bad);
    EXPECT_FALSE(training.Step(Batch(4), 0.05, 4).finite());
    // And it can go on from the good state as if nothing had been.
    training.WriteState(good);
    const std::vector<StateTensor> continued = TrainedState(training, 4, 6);
    Learner undisturbed = MakeLearner(model, InParts(Options(), micro_batch));
    ExpectSame(continued, TrainedState(undisturbed, 1, 6));
  }
}

TEST(Learner, RefusesWhatDoesNotFit) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  Learner training = MakeLearner(model);
  const auto refuses = [](auto call, const auto&... parts) {
    ExpectError(ErrorCode::kInvalidArgument, call, parts...);
  };
  refuses([&] { training.Step(ContrastiveBatch(2, kNegatives, kDimension + 1, false), 0.1, 1); }, "7", "6");
  refuses([&] { training.Step(ContrastiveBatch(2, kNegatives + 1, kDimension, false), 0.1, 1); },
          "negatives");
  refuses([&] { training.Step(ContrastiveBatch(2, kNegatives, kDimension, true), 0.1, 1); }, "weights");
  refuses([&] { training.Evaluate(ContrastiveBatch(0, kNegatives, kDimension, false)); }, "empty");

  std::vector<StateTensor> state = training.ReadState();
  std::vector<StateTensor> changed = state;
  changed.pop_back();
  refuses([&] { training.WriteState(changed); }, "lacks", "average", "b2");
  changed = state;
  changed.push_back({.kind = "velocity", .parameter = "w1", .shape = {1}, .values = {0}});
  refuses([&] { training.WriteState(changed); }, "velocity", "w1");
  changed = state;
  changed[0].shape = {kWidth, kDimension};
  refuses([&] { training.WriteState(changed); }, "shape", "w1");

  LearnerOptions options = Options();
  options.frozen = {"w7*"};
  refuses([&] { MakeLearner(model, options); }, "frozen", "w7*", "w1, b1, w2, b2");
  options.frozen = {"*"};
  refuses([&] { MakeLearner(model, options); }, "nothing to train");
  options = Options();
  options.optimizer.beta1 = 1;
  refuses([&] { MakeLearner(model, options); }, "beta1", "[0, 1)");
  options = Options();
  options.penalties.l1 = 1;
  options.penalties.l1_parameters = {"coupling"};
  refuses([&] { MakeLearner(model, options); }, "l1_parameters", "coupling");
  refuses([&] { MakeLearner(model, InParts(Options(), -1)); }, "micro_batch");
  options = Options();
  options.objective = {"energy-discrepancy", {{"w", -1.0}}};
  refuses([&] { MakeLearner(model, options); }, "w", "[0, inf)");
}

TEST(Learner, MissingDeviceIsAClearError) {
  LearnerOptions options = Options();
  options.device.provider = "cuda";
  const Error error = ErrorOf([&] { MakeLearner(PerceptronModel(kDimension, kWidth, 1), options); });
  EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::kDevice)) << error.what();
  EXPECT_THAT(std::string(error.what()), testing::HasSubstr("the device 'cuda' cannot be used"));
}

TEST(Learner, TrainsTheEnergyAmongSeveralOutputs) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  onnx::ModelProto with_hidden = model;
  onnx::GraphProto& graph = *with_hidden.mutable_graph();
  *graph.add_output() = graph.output(0);
  graph.mutable_output(1)->set_name(graph.node(0).output(0));
  Learner plain = MakeLearner(model), other = MakeLearner(with_hidden);
  ExpectSame(TrainedState(plain, 1, 3), TrainedState(other, 1, 3));
}

TEST(Learner, BreachesOfTheContractNameWhatIsWrong) {
  onnx::ModelProto two_inputs = PerceptronModel(kDimension, kWidth, 1);
  *two_inputs.mutable_graph()->add_input() = two_inputs.graph().input(0);
  two_inputs.mutable_graph()->mutable_input(1)->set_name("z");
  ExpectError(
      ErrorCode::kBadModel, [&] { MakeLearner(two_inputs); }, "2 inputs");
  onnx::ModelProto dynamic = PerceptronModel(kDimension, kWidth, 1);
  auto* shape =
      dynamic.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(1)->set_dim_param("d");
  ExpectError(
      ErrorCode::kBadModel, [&] { MakeLearner(dynamic); }, "must be fixed");
}

// What a training costs before its first step. The counts are of the whole process, so differences count.
TEST(Learner, PreparesAndDifferentiatesItsNetworkOnce) {
  struct Case {
    const char* hidden;
    int64_t micro_batch, most_sessions;
  };
  // Two sessions find shapes; a step is one, and a third finds long vectors in it, or it is three.
  for (const Case& test : {Case{"16,16", 0, 3}, Case{"256,256", 0, 4}, Case{"16,16", 4, 5}}) {
    SCOPED_TRACE(test.hidden);
    EnergySpec energy;
    energy.architecture = Choice("mlp", {{"hidden", test.hidden}});
    energy.dimension = kDimension;
    const onnx::ModelProto model = BuildModel(energy);
    const int64_t preparations = PreparationCount(), differentiations = DifferentiationCount(),
                  sessions = OpenedSessionCount();
    Learner training = MakeLearner(model, InParts(Options(), test.micro_batch));
    EXPECT_TRUE(training.Step(Batch(1), 0.01, 1).finite());
    EXPECT_EQ(PreparationCount() - preparations, 1);
    EXPECT_EQ(DifferentiationCount() - differentiations, 1);
    EXPECT_LE(OpenedSessionCount() - sessions, test.most_sessions);
    // The loss without a step takes one more session, and later steps take none.
    const int64_t before_evaluation = OpenedSessionCount();
    training.Evaluate(Batch(2));
    TrainedState(training, 2, 4);
    training.Evaluate(Batch(2), true);
    EXPECT_EQ(OpenedSessionCount() - before_evaluation, 1);
    EXPECT_EQ(PreparationCount() - preparations, 1);
    EXPECT_EQ(DifferentiationCount() - differentiations, 1);
  }
}

// x + 0 * idle would have a gradient of zero; this one has none, though the graph reads it.
onnx::ModelProto ModelWithIdleParameter() {
  return ParseModel(ModelFromText(R"(<ir_version: 8, opset_import: ["": 15]>
    idle (float[batch, 6] x) => (float[batch] energy, float[batch] other)
    <float[6] w = {1, 2, 3, 4, 5, 6}, float[6] idle = {6, 5, 4, 3, 2, 1}> {
      shape = Shape(idle)
      zeros = ConstantOfShape(shape)
      shifted = Add(x, zeros)
      energy = MatMul(shifted, w)
      other = MatMul(x, idle)
    })"),
                    "idle");
}

TEST(Learner, ParametersWithoutInfluenceStayConstants) {
  const onnx::ModelProto model = ModelWithIdleParameter();
  EXPECT_THAT(ListNames(TrainedParameters(Prepare(model), {})), UnorderedElementsAre("w"));
  for (const int64_t micro_batch : {0, 4}) {
    Learner training = MakeLearner(model, InParts(Options(), micro_batch));
    EXPECT_EQ(training.parameter_count(), kDimension);
    for (const StateTensor& tensor : TrainedState(training, 1, 3)) EXPECT_EQ(tensor.parameter, "w");
    EXPECT_TRUE(std::isfinite(training.Evaluate(Batch(1)).loss));
    onnx::ModelProto exported = model;
    training.Export(exported, false);
    for (int i = 0; i < 2; ++i) {
      const onnx::TensorProto &before = model.graph().initializer(i),
                              &after = exported.graph().initializer(i);
      EXPECT_EQ(before.SerializeAsString() == after.SerializeAsString(), before.name() == "idle");
    }
  }
  // In the graph of a step it is no input, but still has its values.
  StepGraphs graphs(Prepare(model), Options(), {kNegatives, false});
  for (const StepGraphKind kind : {StepGraphKind::kStep, StepGraphKind::kEvaluate}) {
    const onnx::ModelProto graph = graphs.Make(kind);
    for (const auto& input : graph.graph().input()) EXPECT_NE(input.name(), "idle");
    EXPECT_EQ(std::ranges::count(graph.graph().initializer(), "idle", &onnx::TensorProto::name), 1);
    EXPECT_EQ(std::ranges::count(graph.graph().initializer(), "w", &onnx::TensorProto::name), 0);
  }
}

}  // namespace
}  // namespace ort_ed
