#include "trainer/check/model_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include <onnx/defs/tensor_proto_util.h>

#include "models/graph/attributes.h"
#include "models/graph/tensors.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/random.h"
#include "runtime/session.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/check/cast_to_double.h"
#include "trainer/check/directional_slope.h"
#include "trainer/check/double_evaluator.h"
#include "trainer/check/rewrite_for_double.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/learner/step_graph.h"

namespace ort_ed {
namespace {

using Tensor = DoubleTensor;
using Tensors = DoubleTensors;
using Evaluator = DoubleEvaluator;

constexpr uint32_t kRowsPurpose = 0x63680001, kWeightsPurpose = 0x63680002, kDirectionPurpose = 0x63680003,
                   kMovePurpose = 0x63680004;
constexpr char kSeedName[] = "ort_ed_check/seed";
constexpr char kPrefix[] = "ort_ed_check/";

double Norm(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

Tensor RandomRows(int64_t rows, int64_t dimension, uint64_t seed) {
  Tensor tensor{{rows, dimension}, {}};
  for (int64_t row = 0; row < rows; ++row) {
    RandomStream random(seed, kRowsPurpose, 0, static_cast<uint64_t>(row));
    for (int64_t i = 0; i < dimension; ++i) tensor.values.push_back(random.Bernoulli(0.5f));
  }
  return tensor;
}

// The trained tensors become inputs, so that differences can be taken. Returns their values.
Tensors FreeParameters(onnx::ModelProto& model, const std::vector<std::string>& names) {
  const std::set<std::string> trained(names.begin(), names.end());
  Tensors values;
  onnx::GraphProto& graph = *model.mutable_graph();
  google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
  for (const auto& tensor : graph.initializer()) {
    if (!trained.contains(tensor.name())) {
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

// Of the narrowest type of floating point that the model computes in.
double CoarsestRoundoff(const onnx::ModelProto& model) {
  double roundoff = 0x1p-24;
  const auto note = [&](int64_t type) {
    if (type == onnx::TensorProto::FLOAT16) roundoff = std::max(roundoff, 0x1p-11);
    if (type == onnx::TensorProto::BFLOAT16) roundoff = std::max(roundoff, 0x1p-8);
  };
  VisitTensors(model, [&](const onnx::TensorProto& tensor) { note(tensor.data_type()); });
  for (const auto& node : model.graph().node())
    if (const auto* to = FindAttribute(node, "to"); to != nullptr && node.op_type() == "Cast") note(to->i());
  return roundoff;
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
    check_.roles = WidenAndFindRoles(model_, options.trainable);
    roundoff_ = CoarsestRoundoff(model_);
    here_.point = FreeParameters(model_, ParameterNames(model_, options.frozen, check_.roles.BufferNames()));
    here_.point[check_.input] = RandomRows(options.rows, contract.dimension, options.seed);
    for (const auto& [tensor, value] : here_.point) {
      wanted_.push_back(tensor);
      if (tensor != check_.input) parameters_.push_back(tensor);
    }
    RandomStream random(options.seed, kWeightsPurpose, 0, 0);
    for (int64_t i = 0; i < options.rows; ++i) weights_.push_back(random.UniformDouble() + 0.5);
  }

  ModelCheck Run() {
    energies_ = std::make_unique<Evaluator>(model_, name_);
    CheckEnergies(*energies_);
    CheckRules();
    if (!check_.problems.empty()) return check_;
    if (check_.missing_rules.empty()) {
      Try([&] { AddGradients(parameters_); }, check_.problems);
      CheckThatSomethingIsTrained();
    }
    if (check_.missing_input_rules.empty()) {
      Try([&] { AddGradients({check_.input}); }, check_.input_problems);
    }
    Try([&] { CompareGradients(); }, check_.problems);
    return check_;
  }

 private:
  void CheckEnergies(const Evaluator& energies) {
    const Tensor energy = energies.Run(here_.point).at(check_.output);
    const std::vector<int64_t> column = {options_.rows, 1}, vector = {options_.rows};
    if (energy.shape != vector && energy.shape != column) {
      check_.problems.push_back("the output '" + check_.output + "' does not hold one energy per row");
      return;
    }
    DeclareOutput(energy.shape);
    if (energy.shape == column) check_.remarks.push_back("the output is [batch, 1]; [batch] is usual");
    energy_scale_ = std::accumulate(energy.values.begin(), energy.values.end(), 0.0,
                                    [](double sum, double value) { return sum + std::abs(value); });
    if (!std::isfinite(energy_scale_)) {
      check_.problems.push_back("energies of random inputs are not finite");
      return;
    }
    CheckRowsAlone(energies, energy);
  }

  // What the file declares may be anything; gradients are built on it.
  void DeclareOutput(const std::vector<int64_t>& shape) {
    output_shape_ = shape;
    onnx::TypeProto& type = *model_.mutable_graph()->mutable_output(0)->mutable_type();
    auto& declared = *type.mutable_tensor_type()->mutable_shape();
    declared.Clear();
    declared.add_dim()->set_dim_param("batch");
    if (shape.size() == 2) declared.add_dim()->set_dim_value(1);
  }

  // Of all rows, as many as there are: the number of energies may depend on the values of x.
  std::vector<double> Energies(const Evaluator& energies, const Tensors& point) const {
    std::vector<double> values = energies.Run(point).at(check_.output).values;
    if (values.size() != weights_.size())
      throw Error(ErrorCode::kBadModel, "the output '" + check_.output + "' holds " +
                                            std::to_string(values.size()) + " energies for " +
                                            std::to_string(weights_.size()) + " rows");
    return values;
  }

  Tensors Gradients(const Evaluator& evaluator, const Tensors& point) const {
    Tensors gradients = evaluator.Run(Seeded(point));
    for (const auto& [name, gradient] : gradients)
      if (gradient.values.size() != point.at(name.substr(std::size(kPrefix) - 1)).values.size())
        throw Error(ErrorCode::kBadModel, "the gradient of '" + name.substr(std::size(kPrefix) - 1) +
                                              "' has another shape than the tensor");
    return gradients;
  }

  // What two ways to compute an energy may differ by.
  double EnergyTolerance() const {
    const double relative = std::max(1e-4, 8 * roundoff_);
    return relative * (1 + energy_scale_ / static_cast<double>(options_.rows));
  }

  // An energy is a function of its own row: the same alone as among others.
  void CheckRowsAlone(const Evaluator& energies, const Tensor& energy) {
    Tensors alone = here_.point;
    Tensor& row = alone.at(check_.input);
    row.shape[0] = 1;
    const double tolerance = EnergyTolerance();
    for (int64_t i = 0; i < options_.rows; ++i) {
      const auto first = here_.point.at(check_.input).values.begin() + i * check_.dimension;
      row.values.assign(first, first + check_.dimension);
      const double value = energies.Run(alone).at(check_.output).values.at(0);
      if (std::abs(value - energy.values[i]) <= tolerance) continue;
      check_.problems.push_back(
          "the energy of a row depends on the other rows of its batch: " + std::to_string(energy.values[i]) +
          " among " + std::to_string(options_.rows) + " rows, " + std::to_string(value) + " alone");
      return;
    }
  }

  DifferentiateRequest Request(const std::vector<std::string>& tensors, const std::string& seed) const {
    return {.output = check_.output, .output_gradient = seed, .with_respect_to = tensors};
  }

  void CheckRules() {
    check_.opset = GraphBuilder(model_, kPrefix).opset();
    ExpandOperators(model_);
    check_.missing_rules = MissingRules(parameters_);
    if (const std::string quantized = DescribeQuantized(model_.graph(), parameters_); !quantized.empty())
      check_.problems.push_back(quantized);
    check_.missing_input_rules = MissingRules({check_.input});
    GraphBuilder builder(model_, kPrefix);
    check_.blind_spots = NameBlindSpots(NodesWithoutSlope(builder, Request({check_.input}, "")));
  }

  std::vector<MissingRule> MissingRules(const std::vector<std::string>& tensors) {
    GraphBuilder builder(model_, kPrefix);
    std::vector<MissingRule> rules;
    for (const auto& node : NodesWithoutRule(builder, Request(tensors, ""))) {
      const std::string domain = node.domain().empty() ? "" : node.domain() + ".";
      const std::string name = !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
      rules.push_back({name, domain + node.op_type()});
    }
    return rules;
  }

  // What a model cannot do, such as a use of an operator that its rule does not cover, is a problem.
  template <typename Work>
  static void Try(const Work& work, std::vector<std::string>& problems) {
    try {
      work();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadModel) throw;
      problems.emplace_back(error.what());
    }
  }

  // Adds the tensors to those that are compared.
  void AddGradients(const std::vector<std::string>& tensors) {
    std::unique_ptr<Evaluator> gradients = MakeGradients(tensors);
    if (gradients) here_.gradients.merge(Gradients(*gradients, here_.point));
    compared_.insert(tensors.begin(), tensors.end());
    if (gradients) gradients_.push_back(std::move(gradients));
  }

  void CheckThatSomethingIsTrained() {
    if (!check_.problems.empty() || !here_.gradients.empty()) return;
    check_.problems.emplace_back(here_.point.size() > 1 || check_.roles.buffers.empty()
                                     ? "there is nothing to train: no float initialiser influences the energy"
                                     : "there is nothing to train: all float initialisers look like "
                                       "constants; `trainable` names those "
                                       "that are parameters");
  }

  void CompareGradients() {
    const std::unique_ptr<Evaluator> precise = InDouble();
    check_.in_double = precise != nullptr;
    const Evaluator& energies = precise ? *precise : *energies_;
    for (const std::string& tensor : compared_) {
      check_.gradients.push_back(
          here_.gradients.count(kPrefix + tensor) > 0
              ? Compare(energies, tensor)
              : GradientComparison{.tensor = tensor, .size = Size(tensor), .influences = false});
      if (options_.on_progress) options_.on_progress(std::ssize(check_.gradients), std::ssize(compared_));
    }
  }

  // The same energies in double precision; null where ONNX Runtime cannot, or where they are not the same.
  std::unique_ptr<Evaluator> InDouble() const {
    try {
      onnx::ModelProto rewritten = model_;
      UseDoubleForms(rewritten);
      auto precise = std::make_unique<Evaluator>(InDoublePrecision(rewritten), name_);
      const std::vector<double> expected = Energies(*energies_, here_.point);
      const std::vector<double> energy = Energies(*precise, here_.point);
      const double tolerance = EnergyTolerance();
      for (size_t i = 0; i < expected.size(); ++i) {
        if (!(std::abs(energy[i] - expected[i]) <= tolerance)) return nullptr;
      }
      return precise;
    } catch (const Error&) {
      return nullptr;
    }
  }

  int64_t Size(const std::string& tensor) const { return std::ssize(here_.point.at(tensor).values); }

  // Gradients of sum_i c_i * U(x_i), for those of the tensors that have one; named with kPrefix. Null if none
  // has.
  std::unique_ptr<Evaluator> MakeGradients(const std::vector<std::string>& tensors) const {
    onnx::ModelProto model = model_;
    onnx::GraphProto& graph = *model.mutable_graph();
    *graph.add_input() = graph.output(0);
    graph.mutable_input()->rbegin()->set_name(kSeedName);
    GraphBuilder builder(model, kPrefix);
    const auto names = Differentiate(builder, Request(tensors, kSeedName));
    graph.clear_output();
    for (const auto& [tensor, gradient] : names) {
      if (gradient.empty()) continue;
      builder.Named(builder.Existing(gradient), kPrefix + tensor);
      graph.add_output()->set_name(kPrefix + tensor);
    }
    return graph.output_size() == 0 ? nullptr : std::make_unique<Evaluator>(model, name_);
  }

  Tensors Seeded(Tensors point) const {
    point[kSeedName] = {output_shape_, weights_};
    return point;
  }

  double Objective(const Evaluator& energies, const Tensors& point) const {
    const std::vector<double> energy = Energies(energies, point);
    return std::inner_product(weights_.begin(), weights_.end(), energy.begin(), 0.0);
  }

  // Where gradients are compared.
  struct Place {
    Tensors point;      // the inputs' values
    Tensors gradients;  // named with kPrefix
  };

  enum class Move { kInput, kEverything };

  // A place that lies on no kink but by accident; where the energy is not defined there, nothing. Numbers of
  // x grow, so that casts to integers keep theirs.
  std::optional<Place> Moved(Move move) const {
    Place place{here_.point, {}};
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const bool is_input = wanted_[i] == check_.input;
      if (!is_input && move == Move::kInput) continue;
      Tensor& tensor = place.point.at(wanted_[i]);
      const double size = is_input ? 1 : TypicalSize(tensor.values);
      RandomStream random(options_.seed, kMovePurpose, 0, i);
      for (double& value : tensor.values) {
        const double offset = is_input ? random.UniformDouble() : 2 * random.UniformDouble() - 1;
        value = static_cast<float>(value + 0.1 * size * offset);
      }
    }
    return Differentiated(place) ? std::optional(std::move(place)) : std::nullopt;
  }

  // False where the model does not run, as with an index out of bounds, or gives numbers that are not finite.
  bool Differentiated(Place& place) const {
    try {
      for (const auto& gradients : gradients_) place.gradients.merge(Gradients(*gradients, place.point));
      return std::isfinite(Objective(*energies_, place.point)) && std::isfinite(Largest(place));
    } catch (const Error&) {
      return false;
    }
  }

  static double TypicalSize(const std::vector<double>& values) {
    return std::max(1e-2, Norm(values) / std::sqrt(static_cast<double>(values.size())));
  }

  // The largest norm of a gradient.
  static double Largest(const Place& place) {
    double largest = 0;
    for (const auto& [tensor, gradient] : place.gradients) {
      const double norm = Norm(gradient.values);
      if (!(norm <= largest)) largest = norm;
    }
    return largest;
  }

  // On the binary rows; where these lie on a kink, elsewhere.
  GradientComparison Compare(const Evaluator& energies, const std::string& tensor) {
    const GradientComparison here = CompareAt(here_, energies, tensor);
    if (here.verdict != GradientVerdict::kUncertain) return here;
    for (Move move : {Move::kInput, Move::kEverything}) {
      const auto [place, is_new] = elsewhere_.try_emplace(move);
      if (is_new) place->second = Moved(move);
      if (!place->second) continue;
      const GradientComparison there = CompareAt(*place->second, energies, tensor);
      if (there.verdict != GradientVerdict::kUncertain) return there;
    }
    return here;
  }

  // Numbers drawn at random: every element takes part in every direction, and no two kinks cancel.
  std::vector<double> Direction(const std::string& tensor, int k) const {
    const size_t index = std::find(wanted_.begin(), wanted_.end(), tensor) - wanted_.begin();
    RandomStream random(options_.seed, kDirectionPurpose, static_cast<uint64_t>(k), index);
    std::vector<double> direction(here_.point.at(tensor).values.size());
    for (double& value : direction) {
      value = random.Bernoulli(0.5f) ? 1 : -1;
      value *= 0.5 + random.UniformDouble();
    }
    return direction;
  }

  // A gradient is a sum of products, each rounded (by 2^-24 in float) in each of the layers behind it. Where
  // the products cancel, as they do for a bias before a normalisation, this rounding is all that is left; and
  // the products are about as large as the largest gradient. Errors below 64 roundings say nothing, nor,
  // where all gradients cancel, do those below 4 roundings of the energies.
  double SmallestNorm(const Place& place, double tolerance) const {
    return std::max(4 * roundoff_ * (1 + energy_scale_), 64 * roundoff_ * Largest(place)) / tolerance;
  }

  GradientComparison CompareAt(const Place& place, const Evaluator& energies,
                               const std::string& tensor) const {
    GradientComparison result{.tensor = tensor, .size = Size(tensor)};
    const std::vector<double>& gradient = place.gradients.at(kPrefix + tensor).values;
    const double tolerance = std::max(check_.in_double ? 1e-3 : 1e-2, 32 * roundoff_);
    const double norm = std::max(Norm(gradient), SmallestNorm(place, tolerance));
    result.tolerance = tolerance;
    bool differs = false, on_kink = false;
    for (int k = 0; k < options_.directions; ++k) {
      const std::vector<double> direction = Direction(tensor, k);
      const DirectionalSlope line = AlongLine(energies, place.point, tensor, direction);
      const double analytic = std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0);
      const auto close = [&](double numeric) { return std::abs(analytic - numeric) <= tolerance * norm; };
      const SlopeEstimate numeric = line.Slope(close);
      const double error = std::abs(analytic - numeric.value) / norm;
      const double allowed = std::max(tolerance, 4 * numeric.uncertainty / norm);
      if (!(error <= result.relative_error)) result.relative_error = error;
      result.tolerance = std::max(result.tolerance, allowed);
      constexpr double kMeaningless = 0.3;
      if (!(error <= allowed)) {
        differs = true;
        // The energy may not be defined on one side, as that of x^1.5 below 0.
        const bool at_edge = !std::isfinite(numeric.value) && std::isfinite(analytic);
        on_kink = on_kink || at_edge || line.HasKink(numeric.step, error * norm);
      } else if (allowed > kMeaningless) {
        result.verdict = GradientVerdict::kUncertain;
      }
    }
    if (differs) result.verdict = on_kink ? GradientVerdict::kUncertain : GradientVerdict::kDiffers;
    return result;
  }

  // The objective along a direction of one tensor.
  DirectionalSlope AlongLine(const Evaluator& energies, const Tensors& point, const std::string& tensor,
                             const std::vector<double>& direction) const {
    const auto value = [=, this, &energies, &point](double distance) {
      Tensors moved = point;
      std::vector<double>& values = moved.at(tensor).values;
      for (size_t i = 0; i < values.size(); ++i) values[i] += distance * direction[i];
      return Objective(energies, moved);
    };
    const double epsilon = check_.in_double ? 0x1p-52 : 2 * roundoff_;
    return {value, TypicalSize(point.at(tensor).values), energy_scale_ * epsilon, check_.in_double};
  }

  double roundoff_ = 0x1p-24;
  const std::string name_;
  const ModelCheckOptions options_;
  onnx::ModelProto model_;  // prepared; parameters are inputs
  Place here_;              // binary rows, parameters as they are
  std::map<Move, std::optional<Place>> elsewhere_;
  std::vector<std::string> wanted_, parameters_;
  std::set<std::string> compared_;
  std::vector<std::unique_ptr<Evaluator>> gradients_;
  std::vector<double> weights_;
  std::vector<int64_t> output_shape_;  // the real one
  double energy_scale_ = 0;
  std::unique_ptr<Evaluator> energies_;
  ModelCheck check_;
};

}  // namespace

bool ModelCheck::trainable() const {
  return problems.empty() && missing_rules.empty() &&
         std::none_of(gradients.begin(), gradients.end(), [&](const GradientComparison& comparison) {
           return comparison.tensor != input && comparison.verdict == GradientVerdict::kDiffers;
         });
}

bool ModelCheck::has_input_gradient() const {
  return missing_input_rules.empty() && input_problems.empty() && blind_spots.empty() &&
         std::any_of(gradients.begin(), gradients.end(), [&](const GradientComparison& comparison) {
           return comparison.tensor == input && comparison.verdict != GradientVerdict::kDiffers;
         });
}

bool ModelCheck::passed() const {
  return trainable() && std::none_of(gradients.begin(), gradients.end(), [](const auto& comparison) {
           return comparison.verdict == GradientVerdict::kDiffers;
         });
}

ModelCheck CheckModel(const onnx::ModelProto& model, const std::string& name,
                      const ModelCheckOptions& options) {
  return Checker(model, name, options).Run();
}

}  // namespace ort_ed
