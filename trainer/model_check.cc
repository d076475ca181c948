#include "trainer/model_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <onnx/defs/tensor_proto_util.h>

#include "models/model_summary.h"
#include "ort_ed/random.h"
#include "runtime/session.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/autodiff/double_forms.h"
#include "trainer/autodiff/double_precision.h"
#include "trainer/autodiff/prepare_model.h"

namespace ort_ed {
namespace {

constexpr uint32_t kRowsPurpose = 0x63680001, kWeightsPurpose = 0x63680002, kDirectionPurpose = 0x63680003;
constexpr char kSeedName[] = "ort_ed_check/seed";
constexpr char kPrefix[] = "ort_ed_check/";

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
using Tensors = std::map<std::string, Tensor>;

double Norm(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

// A session that is fed doubles, whatever its precision.
class Evaluator {
 public:
  Evaluator(const onnx::ModelProto& model, const std::string& name) : session_(Open(model, name)) {
    Ort::AllocatorWithDefaultOptions allocator;
    for (size_t i = 0; i < session_.GetInputCount(); ++i) {
      inputs_.emplace_back(session_.GetInputNameAllocated(i, allocator).get());
    }
    for (size_t i = 0; i < session_.GetOutputCount(); ++i) {
      outputs_.emplace_back(session_.GetOutputNameAllocated(i, allocator).get());
    }
    is_double_ = session_.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetElementType() ==
                 ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
  }

  Tensors Run(const Tensors& feeds) const {
    std::vector<Ort::Value> values;
    std::vector<const char*> inputs, outputs;
    for (const std::string& input : inputs_) {
      inputs.push_back(input.c_str());
      values.push_back(is_double_ ? MakeValue<double>(feeds.at(input)) : MakeValue<float>(feeds.at(input)));
    }
    for (const std::string& output : outputs_) outputs.push_back(output.c_str());
    const auto results = Translated(ErrorCode::kBadModel, "cannot run the model", [&] {
      return const_cast<Ort::Session&>(session_).Run({}, inputs.data(), values.data(), values.size(),
                                                     outputs.data(), outputs.size());
    });
    Tensors tensors;
    for (size_t i = 0; i < results.size(); ++i) {
      tensors[outputs_[i]] = is_double_ ? Read<double>(results[i]) : Read<float>(results[i]);
    }
    return tensors;
  }

 private:
  static Ort::Session Open(const onnx::ModelProto& model, const std::string& name) {
    const std::string bytes = model.SerializeAsString();
    Ort::SessionOptions options = MakeSessionOptions(Device{}, 0);
    options.SetGraphOptimizationLevel(ORT_ENABLE_BASIC);  // beyond, some fusions exist in float only
    return OpenSession(std::as_bytes(std::span(bytes)), options, name);
  }

  template <typename T>
  static Ort::Value MakeValue(const Tensor& tensor) {
    Ort::AllocatorWithDefaultOptions allocator;
    Ort::Value value = Ort::Value::CreateTensor<T>(allocator, tensor.shape.data(), tensor.shape.size());
    std::transform(tensor.values.begin(), tensor.values.end(), value.GetTensorMutableData<T>(),
                   [](double x) { return static_cast<T>(x); });
    return value;
  }

  template <typename T>
  static Tensor Read(const Ort::Value& value) {
    const auto info = value.GetTensorTypeAndShapeInfo();
    const T* data = value.GetTensorData<T>();
    return {info.GetShape(), {data, data + info.GetElementCount()}};
  }

  Ort::Session session_;
  std::vector<std::string> inputs_, outputs_;
  bool is_double_ = false;
};

Tensor RandomRows(int64_t rows, int64_t dimension, uint64_t seed) {
  Tensor tensor{{rows, dimension}, {}};
  for (int64_t row = 0; row < rows; ++row) {
    RandomStream random(seed, kRowsPurpose, 0, static_cast<uint64_t>(row));
    for (int64_t i = 0; i < dimension; ++i) tensor.values.push_back(random.Bernoulli(0.5f));
  }
  return tensor;
}

// The trained tensors become inputs, so that differences can be taken. Returns their values.
Tensors FreeParameters(onnx::ModelProto& model) {
  Tensors values;
  onnx::GraphProto& graph = *model.mutable_graph();
  google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
  for (const auto& tensor : graph.initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT) {
      *kept.Add() = tensor;
      continue;
    }
    const std::vector<float> data = onnx::ParseData<float>(&tensor);
    values[tensor.name()] = {{tensor.dims().begin(), tensor.dims().end()}, {data.begin(), data.end()}};
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(tensor.name());
    auto* type = input.mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape();
    for (int64_t extent : tensor.dims()) type->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  graph.mutable_initializer()->Swap(&kept);
  return values;
}

void KeepOnlyOutput(onnx::GraphProto& graph, const std::string& output) {
  onnx::ValueInfoProto kept;
  for (const auto& info : graph.output()) {
    if (info.name() == output) kept = info;
  }
  graph.clear_output();
  *graph.add_output() = kept;
}

class Checker {
 public:
  Checker(const onnx::ModelProto& model, const std::string& name, const ModelCheckOptions& options)
      : name_(name), options_(options), model_(model) {
    const EnergyContract contract = CheckContract(model_, name);
    check_.input = contract.input;
    check_.output = contract.output;
    check_.dimension = contract.dimension;
    PrepareForDifferentiation(model_);
    KeepOnlyOutput(*model_.mutable_graph(), check_.output);
    point_ = FreeParameters(model_);
    point_[check_.input] = RandomRows(options.rows, contract.dimension, options.seed);
    for (const auto& [tensor, value] : point_) wanted_.push_back(tensor);
  }

  ModelCheck Run() {
    energies_ = std::make_unique<Evaluator>(model_, name_);
    CheckEnergies(*energies_);
    CheckRules();
    if (!check_.problems.empty() || !check_.missing_rules.empty()) return check_;
    try {
      CheckGradients();
    } catch (const Error& error) {  // a rule that does not cover this use of its operator
      if (error.code() != ErrorCode::kBadModel) throw;
      check_.problems.emplace_back(error.what());
    }
    return check_;
  }

 private:
  void CheckEnergies(const Evaluator& energies) {
    const Tensor energy = energies.Run(point_).at(check_.output);
    const std::vector<int64_t> column = {options_.rows, 1}, vector = {options_.rows};
    if (energy.shape != vector && energy.shape != column) {
      check_.problems.push_back("the output '" + check_.output + "' does not hold one energy a row");
      return;
    }
    if (energy.shape == column) check_.remarks.push_back("the output is [batch, 1]; [batch] is usual");
    energy_scale_ = std::accumulate(energy.values.begin(), energy.values.end(), 0.0,
                                    [](double sum, double value) { return sum + std::abs(value); });
    if (!std::isfinite(energy_scale_)) {
      check_.problems.push_back("energies of random inputs are not finite");
      return;
    }
    CheckRowsAlone(energies, energy);
  }

  // An energy is a function of its own row: the same alone as among others.
  void CheckRowsAlone(const Evaluator& energies, const Tensor& energy) {
    Tensors alone = point_;
    Tensor& row = alone.at(check_.input);
    row.shape[0] = 1;
    const double tolerance = 1e-4 * (1 + energy_scale_ / static_cast<double>(options_.rows));
    for (int64_t i = 0; i < options_.rows; ++i) {
      const auto first = point_.at(check_.input).values.begin() + i * check_.dimension;
      row.values.assign(first, first + check_.dimension);
      const double value = energies.Run(alone).at(check_.output).values.at(0);
      if (std::abs(value - energy.values[i]) <= tolerance) continue;
      check_.problems.push_back(
          "the energy of a row depends on the other rows of its batch: " + std::to_string(energy.values[i]) +
          " among " + std::to_string(options_.rows) + " rows, " + std::to_string(value) + " alone");
      return;
    }
  }

  DifferentiateRequest Request(const std::string& seed) const {
    return {.output = check_.output, .output_gradient = seed, .with_respect_to = wanted_};
  }

  void CheckRules() {
    GraphBuilder builder(model_, kPrefix);
    check_.opset = builder.opset();
    for (const auto& node : NodesWithoutRule(builder, Request(""))) {
      const std::string domain = node.domain().empty() ? "" : node.domain() + ".";
      const std::string name = !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
      check_.missing_rules.push_back({name, domain + node.op_type()});
    }
  }

  void CheckGradients() {
    const Tensors gradients = Gradients();
    const std::unique_ptr<Evaluator> precise = InDouble();
    check_.in_double = precise != nullptr;
    const Evaluator& energies = precise ? *precise : *energies_;
    for (const std::string& tensor : wanted_) {
      const auto gradient = gradients.find(kPrefix + tensor);
      check_.gradients.push_back(
          gradient == gradients.end()
              ? GradientComparison{.tensor = tensor, .size = Size(tensor), .influences = false}
              : Compare(energies, tensor, gradient->second.values));
      if (options_.on_progress) options_.on_progress(std::ssize(check_.gradients), std::ssize(wanted_));
    }
  }

  // The same energies in double precision; null where ONNX Runtime cannot, or where they are not the same.
  std::unique_ptr<Evaluator> InDouble() const {
    try {
      onnx::ModelProto rewritten = model_;
      UseDoubleForms(rewritten);
      auto precise = std::make_unique<Evaluator>(InDoublePrecision(rewritten), name_);
      const Tensor expected = energies_->Run(point_).at(check_.output);
      const Tensor energy = precise->Run(point_).at(check_.output);
      const double tolerance = 1e-4 * (1 + energy_scale_ / static_cast<double>(options_.rows));
      for (size_t i = 0; i < expected.values.size(); ++i) {
        if (!(std::abs(energy.values[i] - expected.values[i]) <= tolerance)) return nullptr;
      }
      return precise;
    } catch (const Error&) {
      return nullptr;
    }
  }

  int64_t Size(const std::string& tensor) const { return std::ssize(point_.at(tensor).values); }

  // Of sum_i c_i * U(x_i), for all tensors that have one; named with kPrefix.
  Tensors Gradients() {
    onnx::ModelProto model = model_;
    onnx::GraphProto& graph = *model.mutable_graph();
    *graph.add_input() = graph.output(0);
    graph.mutable_input()->rbegin()->set_name(kSeedName);
    GraphBuilder builder(model, kPrefix);
    const auto names = Differentiate(builder, Request(kSeedName));
    graph.clear_output();
    for (const auto& [tensor, gradient] : names) {
      if (gradient.empty()) continue;
      builder.Named(builder.Existing(gradient), kPrefix + tensor);
      graph.add_output()->set_name(kPrefix + tensor);
    }
    RandomStream random(options_.seed, kWeightsPurpose, 0, 0);
    for (int64_t i = 0; i < options_.rows; ++i) weights_.push_back(random.UniformDouble() + 0.5);
    if (graph.output_size() == 0) return {};
    Tensors feeds = point_;
    feeds[kSeedName] = {OutputShape(), weights_};
    return Evaluator(model, name_).Run(feeds);
  }

  std::vector<int64_t> OutputShape() const {
    const auto& shape = model_.graph().output(0).type().tensor_type().shape();
    return shape.dim_size() == 2 ? std::vector<int64_t>{options_.rows, 1}
                                 : std::vector<int64_t>{options_.rows};
  }

  double Objective(const Evaluator& energies, const Tensors& point) const {
    const Tensor energy = energies.Run(point).at(check_.output);
    return std::inner_product(weights_.begin(), weights_.end(), energy.values.begin(), 0.0);
  }

  double Difference(const Evaluator& energies, const std::string& tensor,
                    const std::vector<double>& direction, double step) const {
    Tensors moved = point_;
    std::vector<double>& values = moved.at(tensor).values;
    const std::vector<double>& origin = point_.at(tensor).values;
    const auto at = [&](double distance) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = origin[i] + distance * direction[i];
      return Objective(energies, moved);
    };
    return (at(step) - at(-step)) / (2 * step);
  }

  // Signs drawn at random: every element takes part in every direction.
  std::vector<double> Direction(const std::string& tensor, int k) const {
    const size_t index = std::find(wanted_.begin(), wanted_.end(), tensor) - wanted_.begin();
    RandomStream random(options_.seed, kDirectionPurpose, static_cast<uint64_t>(k), index);
    std::vector<double> direction(point_.at(tensor).values.size());
    for (double& value : direction) value = random.Bernoulli(0.5f) ? 1 : -1;
    return direction;
  }

  GradientComparison Compare(const Evaluator& energies, const std::string& tensor,
                             const std::vector<double>& gradient) const {
    GradientComparison result{.tensor = tensor, .size = Size(tensor)};
    const double norm = std::max(Norm(gradient), 1e-7 * (1 + energy_scale_));
    const double tolerance = check_.in_double ? 1e-3 : 1e-2;
    result.tolerance = tolerance;
    for (int k = 0; k < options_.directions; ++k) {
      const std::vector<double> direction = Direction(tensor, k);
      const double analytic = std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0);
      const auto close = [&](double numeric) { return std::abs(analytic - numeric) <= tolerance * norm; };
      const auto [numeric, uncertainty] = BestDifference(energies, tensor, direction, close);
      const double error = std::abs(analytic - numeric) / norm;
      const double allowed = std::max(tolerance, 4 * uncertainty / norm);
      if (!(error <= result.relative_error)) result.relative_error = error;
      result.tolerance = std::max(result.tolerance, allowed);
      constexpr double kMeaningless = 0.3;
      if (!(error <= allowed)) {
        result.verdict = GradientVerdict::kDiffers;
      } else if (allowed > kMeaningless && result.verdict == GradientVerdict::kAgrees) {
        result.verdict = GradientVerdict::kUncertain;
      }
    }
    return result;
  }

  struct Estimate {
    double value, uncertainty;
  };

  // A difference that is `close` enough at once; else, of differences with several steps, each with two
  // neighbours, the one that changes least among the three.
  template <typename Close>
  Estimate BestDifference(const Evaluator& energies, const std::string& tensor,
                          const std::vector<double>& direction, const Close& close) const {
    const std::vector<double>& values = point_.at(tensor).values;
    const double size = std::max(1e-2, Norm(values) / std::sqrt(static_cast<double>(values.size())));
    const std::vector<double> steps =
        check_.in_double ? std::vector<double>{1e-5} : std::vector<double>{1e-1, 1e-2, 1e-3};
    const double rounding = energy_scale_ * (check_.in_double ? 0x1p-52 : 0x1p-23);
    Estimate best{NAN, INFINITY};
    for (double step : steps) {
      double low = INFINITY, high = -INFINITY, last = NAN;
      for (double factor : {1.0, 0.7, 0.5}) {
        last = Difference(energies, tensor, direction, factor * step * size);
        if (check_.in_double && close(last)) return {last, 0};
        low = std::min(low, last);
        high = std::max(high, last);
      }
      const double uncertainty = high - low + rounding / (step * size);
      if (!(uncertainty >= best.uncertainty)) best = {last, uncertainty};
    }
    return best;
  }

  const std::string name_;
  const ModelCheckOptions options_;
  onnx::ModelProto model_;  // prepared; parameters are inputs
  Tensors point_;           // the inputs' values
  std::vector<std::string> wanted_;
  std::vector<double> weights_;
  double energy_scale_ = 0;
  std::unique_ptr<Evaluator> energies_;
  ModelCheck check_;
};

}  // namespace

bool ModelCheck::passed() const {
  return problems.empty() && missing_rules.empty() &&
         std::none_of(gradients.begin(), gradients.end(), [](const GradientComparison& comparison) {
           return comparison.verdict == GradientVerdict::kDiffers;
         });
}

ModelCheck CheckModel(const onnx::ModelProto& model, const std::string& name,
                      const ModelCheckOptions& options) {
  return Checker(model, name, options).Run();
}

}  // namespace ort_ed
