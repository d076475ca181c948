#include "trainer/learner/learner.h"

#include <cmath>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/model_file.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/trainer/small_models.h"
#include "trainer/learner/step_graph.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

using ::testing::UnorderedElementsAre;

constexpr int kDimension = 6, kWidth = 5, kNegatives = 4;

TrainingSpec Spec() {
  TrainingSpec spec;
  spec.loss.negatives = kNegatives;
  spec.optimizer.clip_norm = 5;
  spec.optimizer.ema_decay = 0.9;
  return spec;
}

LearnerOptions Options(int threads = 1, int64_t micro_batch = 0) {
  LearnerOptions options;
  options.threads = threads;
  options.micro_batch = micro_batch;
  return options;
}

ContrastiveBatch Batch(uint64_t step, int64_t positives = 10, const char* method = "bernoulli") {
  const auto perturbation = MakePerturbation(method, {.dimension = kDimension, .epsilon = {0.3}});
  ContrastiveBatch batch(positives, kNegatives, kDimension, perturbation->Weighted());
  RandomStream random(5, 1, step, 0);
  for (int64_t i = 0; i < positives; ++i) {
    for (uint8_t& bit : batch.Positive(i)) bit = random.Bernoulli(0.7f);
  }
  FillNegatives(*perturbation, 5, step, 0, batch);
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
    TrainingSpec spec = Spec();
    spec.loss.weighted = std::string(method) == "neighbourhood";
    spec.optimizer = OptimizerSpec{};
    spec.optimizer.kind = OptimizerKind::kSgd;
    spec.optimizer.momentum = 0;
    const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
    Learner training(model, spec, Options());
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
  Learner training(PerceptronModel(kDimension, kWidth, 1), Spec(), Options());
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
  Learner whole(model, Spec(), Options()), first(model, Spec(), Options()), second(model, Spec(), Options());
  const std::vector<StateTensor> expected = TrainedState(whole, 1, 9);
  std::vector<StateTensor> saved = TrainedState(first, 1, 4);
  std::reverse(saved.begin(), saved.end());
  second.WriteState(saved);
  ExpectSame(TrainedState(second, 5, 9), expected);
}

// The model with some of the entries of w1 at zero, and all of b1.
onnx::ModelProto SparseModel() {
  onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  const std::vector<ParameterSlot> slots = TrainedParameters(model, {});
  std::vector<float> values = FlatParameters(model, slots);
  for (const ParameterSlot& slot : slots) {
    for (int64_t k = slot.offset; k < slot.offset + slot.size; ++k)
      if (slot.name == "b1" || (slot.name == "w1" && k % 3 == 0)) values[k] = 0;
  }
  SetParameters(model, slots, values);
  return model;
}

TEST(Learner, FixedZerosStayWhateverTheOptimiser) {
  std::vector<TrainingSpec> specs(4, Spec());
  specs[1].optimizer.kind = OptimizerKind::kSgd;
  specs[2].optimizer.kind = OptimizerKind::kAdamW;
  for (TrainingSpec& spec : specs) {
    spec.fixed_zeros = {"w*"};
    spec.optimizer.weight_decay = 0.01;
    spec.optimizer.l1 = 1e-4;
  }
  specs[3].optimizer.l1_form = L1Form::kSubgradient;
  for (const TrainingSpec& spec : specs) {
    for (const int64_t micro_batch : {0, 4}) {
      Learner training(SparseModel(), spec, Options(1, micro_batch));
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
  TrainingSpec spec = Spec();
  spec.optimizer.clip_norm = 0;
  Learner free(SparseModel(), spec, Options());
  spec.fixed_zeros = {"w1", "b1"};
  Learner fixed(SparseModel(), spec, Options());
  EXPECT_LT(fixed.Step(Batch(1), 0.01, 1).gradient_norm, free.Step(Batch(1), 0.01, 1).gradient_norm);
}

// What is zero only at the moment of a checkpoint is free to move after it.
TEST(Learner, FixedZerosAreThoseOfTheBeginning) {
  TrainingSpec spec = Spec();
  spec.fixed_zeros = {"*"};
  Learner whole(SparseModel(), spec, Options());
  std::vector<StateTensor> saved = whole.ReadState();
  for (StateTensor& tensor : saved)
    if (tensor.kind == "parameters" && tensor.parameter == "w2") tensor.values[0] = 0;
  whole.WriteState(saved);
  const std::vector<StateTensor> expected = TrainedState(whole, 1, 3);
  EXPECT_NE(Piece(expected, "parameters", "w2").values[0], 0);
  onnx::ModelProto at_checkpoint = SparseModel();
  const std::vector<ParameterSlot> slots = TrainedParameters(at_checkpoint, {});
  SetParameters(at_checkpoint, slots,
                std::vector<float>(static_cast<size_t>(slots.back().offset + slots.back().size)));
  Learner resumed(at_checkpoint, spec, Options());
  resumed.WriteState(saved);
  ExpectSame(TrainedState(resumed, 1, 3), expected);
  spec.fixed_zeros = {"w3"};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Learner(SparseModel(), spec, Options()); }, "w3");
}

TEST(Learner, SameThreadsSameBits) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 2);
  Learner a(model, Spec(), Options(2)), b(model, Spec(), Options(2));
  ExpectSame(TrainedState(a, 1, 20), TrainedState(b, 1, 20));
}

TEST(Learner, MicroBatchesGiveTheSameStep) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 3);
  for (const char* method : {"bernoulli", "neighbourhood"}) {
    TrainingSpec spec = Spec();
    spec.loss.weighted = std::string(method) == "neighbourhood";
    spec.frozen = {
        "b2"};  // a constant of the energy has no gradient, and Adam makes steps of its rounding errors
    for (int64_t size : {1, 3, 5, 10, 64}) {  // 3 does not divide the batch of 10
      Learner whole(model, spec, Options()), parts(model, spec, Options(1, size));
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
    TrainingSpec spec = Spec();
    spec.frozen = {"b2"};
    spec.fixed_zeros = {"w1"};
    spec.optimizer.l1 = 0.05;
    spec.optimizer.l1_form = form;
    spec.optimizer.l1_parameters = {"w1"};
    spec.optimizer.weight_decay = 0.5;
    spec.optimizer.weight_decay_parameters = {"w2", "b1"};
    Learner whole(SparseModel(), spec, Options()), parts(SparseModel(), spec, Options(1, 10));
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
  TrainingSpec spec = Spec();
  spec.optimizer.kind = OptimizerKind::kSgd;
  Learner whole(model, spec, Options()), parts(model, spec, Options(1, 4));
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
  Learner training(PerceptronModel(kDimension, kWidth, 1), Spec(), Options());
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
    Learner training(BuildModel(energy), Spec(), Options());
    const ContrastiveBatch validation = Batch(1000, 500);
    const double before = training.Evaluate(validation).loss;
    const std::vector<StateTensor> state = TrainedState(training, 1, 200);
    EXPECT_LT(training.Evaluate(validation, true).loss, before - 0.005);
    for (const StateTensor& tensor : state) EXPECT_EQ(tensor.parameter.find("base"), std::string::npos);
  }
}

TEST(Learner, ExportsParametersOrTheirAverage) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  Learner training(model, Spec(), Options());
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
  TrainingSpec spec = Spec();
  spec.frozen = {"w1", "b?"};
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  Learner training(model, spec, Options());
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
  EXPECT_THAT(ListNames(TrainedParameters(model, {})), UnorderedElementsAre("scale", "shift", "w"));
}

TEST(Learner, PenaltiesReachOnlyTheChosenParameters) {
  TrainingSpec spec = Spec();
  spec.optimizer.l1 = 100;
  spec.optimizer.l1_parameters = {"w1"};
  Learner training(PerceptronModel(kDimension, kWidth, 1), spec, Options());
  const std::vector<StateTensor> state = TrainedState(training, 1, 3);
  EXPECT_EQ(Piece(state, "parameters", "w1").values, std::vector<float>(kDimension * kWidth));
  for (float value : Piece(state, "parameters", "w2").values) EXPECT_NE(value, 0);
}

TEST(Learner, AStepThatIsNotFiniteIsNotTaken) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  for (int64_t micro_batch : {0, 3}) {
    Learner training(model, Spec(), Options(1, micro_batch));
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
    Learner undisturbed(model, Spec(), Options(1, micro_batch));
    ExpectSame(continued, TrainedState(undisturbed, 1, 6));
  }
}

TEST(Learner, RefusesWhatDoesNotFit) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  Learner training(model, Spec(), Options());
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
  changed.push_back({"velocity", "w1", {1}, {0}});
  refuses([&] { training.WriteState(changed); }, "velocity", "w1");
  changed = state;
  changed[0].shape = {kWidth, kDimension};
  refuses([&] { training.WriteState(changed); }, "shape", "w1");

  TrainingSpec spec = Spec();
  spec.frozen = {"w7*"};
  refuses([&] { Learner(model, spec, Options()); }, "w7*", "w1, b1, w2, b2");
  spec.frozen = {"*"};
  refuses([&] { Learner(model, spec, Options()); }, "nothing to train");
  spec = Spec();
  spec.optimizer.beta1 = 1;
  refuses([&] { Learner(model, spec, Options()); }, "beta1");
  spec = Spec();
  spec.optimizer.l1 = 1;
  spec.optimizer.l1_parameters = {"coupling"};
  refuses([&] { Learner(model, spec, Options()); }, "l1", "coupling");
  refuses([&] { Learner(model, Spec(), Options(1, -1)); }, "micro-batches");
}

TEST(Learner, MissingDeviceIsAClearError) {
  LearnerOptions options;
  options.device.provider = "cuda";
  const Error error = ErrorOf([&] { Learner(PerceptronModel(kDimension, kWidth, 1), Spec(), options); });
  EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::kDevice)) << error.what();
  EXPECT_THAT(std::string(error.what()), testing::HasSubstr("the device 'cuda' cannot be used"));
}

TEST(Learner, TrainsTheEnergyAmongSeveralOutputs) {
  const onnx::ModelProto model = PerceptronModel(kDimension, kWidth, 1);
  onnx::ModelProto with_hidden = model;
  onnx::GraphProto& graph = *with_hidden.mutable_graph();
  *graph.add_output() = graph.output(0);
  graph.mutable_output(1)->set_name(graph.node(0).output(0));
  Learner plain(model, Spec(), Options()), other(with_hidden, Spec(), Options());
  ExpectSame(TrainedState(plain, 1, 3), TrainedState(other, 1, 3));
}

TEST(StepGraph, BreachesOfTheContractNameWhatIsWrong) {
  onnx::ModelProto two_inputs = PerceptronModel(kDimension, kWidth, 1);
  *two_inputs.mutable_graph()->add_input() = two_inputs.graph().input(0);
  two_inputs.mutable_graph()->mutable_input(1)->set_name("z");
  ExpectError(
      ErrorCode::kBadModel, [&] { BuildStepGraph(two_inputs, Spec()); }, "2 inputs");
  onnx::ModelProto dynamic = PerceptronModel(kDimension, kWidth, 1);
  auto* shape =
      dynamic.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(1)->set_dim_param("d");
  ExpectError(
      ErrorCode::kBadModel, [&] { BuildStepGraph(dynamic, Spec()); }, "must be fixed");
}

}  // namespace
}  // namespace ort_ed
