#include "trainer/learner/learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>

#include "models/inspect/energy_degree.h"
#include "runtime/support/parallel_for.h"
#include "trainer/collective/shares.h"
#include "trainer/collective/tree_sum.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/learner/device_session.h"
#include "trainer/learner/gpu_nodes.h"
#include "trainer/learner/learner_energy.h"
#include "trainer/learner/read_bipartite.h"
#include "trainer/learner/step_graph.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/passes/fuse_elementwise.h"
#include "trainer/passes/use_cpu_kernels.h"

namespace ort_ed {
namespace {

using step_tensor::GradientName;
using step_tensor::Next;
using step_tensor::StateTensorName;
using Losses = std::array<float, 3>;
using Report = std::array<float, 5>;

// Up to this many parameters, a step is one run with two sets of buffers, which is fastest. Beyond, it is
// worth more runs that memory is not taken twice; and pieces of this size stay in the cache.
constexpr int64_t kPieceSize = int64_t{1} << 18;

// States evaluated at once: more gain nothing, and their activations take memory.
constexpr int64_t kStatesAtOnce = 4096;
// The couplings of so many variables are read in every step where the energy is quadratic; those of more
// would cost more than they help.
constexpr int64_t kMostCoupled = 2048;

// A run of groups of a batch, or of elements of a vector.
struct Groups {
  int64_t first = 0;
  int64_t count = 0;
};

std::vector<Groups> Cut(int64_t groups, int64_t micro_batch) {
  if (micro_batch == 0) micro_batch = groups;
  std::vector<Groups> parts;
  for (int64_t first = 0; first < groups; first += micro_batch) {
    parts.push_back({first, std::min(micro_batch, groups - first)});
  }
  return parts;
}

template <size_t N>
Ort::Value HostArray(std::array<float, N>& values) {
  return HostTensor(values.data(), {static_cast<int64_t>(N)});
}

}  // namespace

bool StepResult::finite() const {
  return std::isfinite(loss) && std::isfinite(energy_positive) && std::isfinite(energy_negative) &&
         std::isfinite(gradient_norm) && std::isfinite(parameter_norm);
}

// Rows whose energies a thread computes at once: as many as make it worth to read the weights. Those of a
// convolution serve many places of each row.
int64_t RowsOfThread(const onnx::ModelProto& model) {
  const auto is_convolution = [](const onnx::NodeProto& node) { return node.op_type() == "Conv"; };
  return std::ranges::any_of(model.graph().node(), is_convolution) ? 8 : 64;
}

struct Learner::Impl {
  Impl(PreparedModel network, const LearnerOptions& learner_options, const BatchShape& batch_shape)
      : options(learner_options),
        shape(batch_shape),
        memory(options.device),
        kinds(StateNames(options.optimizer)),
        changing_kinds(kinds.size()),
        dimension(network.contract.dimension) {
    if (options.keeps_zeros()) kinds.push_back(kZeroMaskKind);
    if (options.micro_batch < 0) throw OptionError("micro_batch", "must not be negative");
    const int degree = EnergyDegree(network.model).value_or(0);
    quadratic = dimension <= kMostCoupled && (degree == 1 || degree == 2);
    bipartite = FindBipartiteTerms(network.model);
    if (options.device.provider == "cpu") rows_of_thread = RowsOfThread(network.model);
    ExpandOperators(network.model);
    if (options.has_cpu_kernels()) {
      UseCpuKernels(network.model);
      ImportCpuKernels(network.model);  // gradients may have use for them where the network has none
    }
    graphs = std::make_unique<StepGraphs>(network, options, shape);
    if (bipartite && !std::ranges::all_of(bipartite->Initialisers(), [&](const std::string& name) {
          return std::ranges::find(slots(), name, &ParameterSlot::name) != slots().end();
        }))
      bipartite.reset();
    piece_size = has_addresses() ? kPieceSize : FlatSize();
    in_place = options.micro_batch > 0 || options.shards > 1 || FlatSize() > piece_size;
    const std::vector<float> parameters = FlatParameters(network.model, slots());
    network = {};
    for (const StepGraphKind kind : FirstKinds()) Open(kind);
    SetState([&](const std::string& kind) { return InitialState(kind, parameters); });
    if (in_place) MakeConstants();
  }

  const std::vector<ParameterSlot>& slots() const { return graphs->slots(); }

  std::vector<StepGraphKind> FirstKinds() const {
    using Kind = StepGraphKind;
    if (!in_place) return {Kind::kStep};
    return {options.micro_batch > 0 ? Kind::kAccumulate : Kind::kGradient, Kind::kNorm, Kind::kApply};
  }

  std::vector<float> InitialState(const std::string& kind, const std::vector<float>& parameters) const {
    if (kind == "parameters" || kind == "average") return parameters;
    if (kind == kZeroMaskKind) return ZeroMask(parameters, slots(), options);
    return std::vector<float>(parameters.size());
  }

  // To look for long vectors takes a session: only these graphs have some.
  bool MayFuse(StepGraphKind kind) const {
    return options.has_cpu_kernels() && FlatSize() >= kShortestFused &&
           (kind == StepGraphKind::kStep || kind == StepGraphKind::kApply);
  }

  bool has_addresses() const { return HasAddresses(options.device); }

  int64_t FlatSize() const { return TotalSize(slots()); }

  void Open(StepGraphKind kind) {
    onnx::ModelProto graph = graphs->Make(kind);
    if (MayFuse(kind)) FuseElementwise(graph);
    if (kind == FirstKinds()[0]) operators_on_cpu = OperatorsOnCpu(options.device, graph);
    const bool side_by_side =
        rows_of_thread > 0 && (kind == StepGraphKind::kEnergy || kind == StepGraphKind::kEnergyGradient);
    sessions.try_emplace(kind, std::move(graph), options.device, side_by_side ? 1 : options.threads);
  }

  // Sessions that not every training needs are opened when they are first needed.
  DeviceSession& Session(StepGraphKind kind) {
    const std::lock_guard lock(sessions_mutex);  // threads that evaluate energies come here, too
    if (!sessions.count(kind)) Open(kind);
    return sessions.at(kind);
  }

  // Whether a step leaves the old state as it was, and the new one takes its place.
  bool swaps() const { return !in_place || !has_addresses(); }

  // `vector_of` gives the values of a kind.
  template <typename VectorOf>
  void SetState(VectorOf&& vector_of) {
    state.clear();
    next_state.clear();
    for (const std::string& kind : kinds) {
      const std::vector<float> vector = vector_of(kind);
      state.push_back(memory.Vector(vector));
      if (swaps() && next_state.size() < changing_kinds) next_state.push_back(memory.Vector(vector));
    }
  }

  void MakeConstants() {
    const PenaltyOptions& p = options.penalties;
    const auto add = [&](const char* name, const std::vector<float>& vector) {
      if (!vector.empty()) constants.emplace(name, memory.Vector(vector));
    };
    add(step_tensor::kWeightDecay,
        PenaltyVector(p.weight_decay, p.weight_decay_parameters, "weight_decay_parameters", slots()));
    add(step_tensor::kL1, PenaltyVector(p.l1, p.l1_parameters, "l1_parameters", slots()));
    gradient = memory.Vector(FlatSize());
    if (swaps() && options.micro_batch > 0) next_gradient = memory.Vector(FlatSize());
  }

  static void CheckBatch(const ContrastiveBatch& batch, const BatchShape& shape, int64_t dimension) {
    const auto require = [](bool holds, const std::string& what) {
      if (!holds) throw Error(ErrorCode::kInvalidArgument, "the batch does not fit the training: " + what);
    };
    require(batch.positives > 0, "it is empty");
    require(batch.dimension == dimension, "its rows have " + std::to_string(batch.dimension) +
                                              " values, the model takes " + std::to_string(dimension));
    require(batch.negatives == shape.negatives, "it has " + std::to_string(batch.negatives) +
                                                    " negatives for each positive instead of " +
                                                    std::to_string(shape.negatives));
    require(batch.log_weights.empty() != shape.weighted,
            shape.weighted ? "the weights of the negatives are missing" : "it has weights");
  }

  void BindBatch(DeviceSession& session, const ContrastiveBatch& batch, Groups groups) {
    const int64_t group_rows = 1 + batch.negatives;
    auto* const rows = const_cast<uint8_t*>(batch.rows.data());  // ONNX Runtime does not write to inputs
    session.BindInput(step_tensor::kRows, HostTensor(rows + groups.first * group_rows * dimension,
                                                     {groups.count * group_rows, dimension}));
    if (batch.log_weights.empty()) return;
    auto* const weights = const_cast<float*>(batch.log_weights.data());
    session.BindInput(step_tensor::kLogWeights,
                      HostTensor(weights + groups.first * group_rows, {groups.count, group_rows}));
  }

  // The random numbers of a step belong to its rows, however it is cut into parts.
  void DrawFactors(const ContrastiveBatch& batch, int64_t step) {
    factors.clear();
    const int64_t rows = (batch.first_group + batch.positives) * (1 + batch.negatives);
    for (size_t layer = 0; layer < options.dropout.layers.size(); ++layer)
      factors.push_back(DrawDropout(options.dropout, layer, step, rows));
  }

  void BindFactors(DeviceSession& session, const ContrastiveBatch& batch, Groups groups) {
    const int64_t group_rows = 1 + batch.negatives, first = batch.first_group + groups.first;
    for (size_t layer = 0; layer < factors.size(); ++layer) {
      const DropoutOptions::Layer& dropped = options.dropout.layers[layer];
      session.BindInput(step_tensor::DropoutName(dropped.tensor),
                        HostTensor(factors[layer].data() + first * group_rows * dropped.units,
                                   {groups.count * group_rows, dropped.units}));
    }
  }

  void BindControl(DeviceSession& session, std::vector<float>& control) {
    session.BindInput(step_tensor::kControl, HostTensor(control.data(), {kControlSize}));
  }

  template <typename Session>
  void BindParameters(Session& session, const Ort::Value& parameters) {
    if (!has_addresses()) {
      session.BindInput(StateTensorName("parameters"), parameters);
      return;
    }
    for (const ParameterSlot& slot : slots())
      session.BindInput(slot.name, Slice(parameters, slot.offset, slot.shape));
  }

  void BindStep(DeviceSession& session, const ContrastiveBatch& batch, Groups groups,
                std::vector<float>& control) {
    BindBatch(session, batch, groups);
    BindFactors(session, batch, groups);
    BindControl(session, control);
    BindParameters(session, state[0]);
  }

  // Everything in one run, which leaves the old state as it was.
  StepResult StepAndSwap(const ContrastiveBatch& batch, std::vector<float>& control) {
    Report report{};
    DeviceSession& session = Session(StepGraphKind::kStep);
    BindStep(session, batch, {0, batch.positives}, control);
    for (size_t i = 0; i < kinds.size(); ++i) {
      session.BindInput(StateTensorName(kinds[i]), state[i]);
      if (i < changing_kinds) session.BindOutput(Next(StateTensorName(kinds[i])), next_state[i]);
    }
    session.BindOutput(step_tensor::kReport, HostArray(report));
    session.Run();
    const StepResult result{{report[0], report[1], report[2]}, report[3], report[4]};
    if (result.finite()) std::ranges::swap_ranges(next_state, state);
    return result;
  }

  // The gradient first; if it is good, the state takes the step where it lies, piece by piece.
  StepResult StepInPlace(const ContrastiveBatch& batch, std::vector<float>& control) {
    const Losses losses = options.shards > 1 ? GradientOfShards(batch, control)
                                             : GradientOf(batch, {0, batch.positives}, control);
    StepResult result{{losses[0], losses[1], losses[2]}, std::sqrt(SumOverPieces(StepGraphKind::kNorm)), 0};
    for (const float value : control)
      if (!std::isfinite(value)) result.parameter_norm = value;
    if (!result.finite()) return result;
    std::vector<Ort::Value>& next = swaps() ? next_state : state;
    std::array<float, 1> clip = {static_cast<float>(ClipFactor(options.optimizer, result.gradient_norm))};
    result.parameter_norm =
        std::sqrt(SumOverPieces(StepGraphKind::kApply, [&](DeviceSession& session, Groups piece) {
          BindControl(session, control);
          session.BindInput(step_tensor::kClip, HostArray(clip));
          for (size_t i = 0; i < changing_kinds; ++i)
            session.BindOutput(Next(StateTensorName(kinds[i])), Slice(next[i], piece.first, {piece.count}));
        }));
    if (swaps()) std::ranges::swap_ranges(next_state, state);
    return result;
  }

  // Each shard's by itself, whatever process computes it, and all of them summed.
  Losses GradientOfShards(const ContrastiveBatch& batch, std::vector<float>& control) {
    const auto size = static_cast<size_t>(FlatSize());
    summed.resize(size + std::tuple_size_v<Losses>);
    const auto compute = [&](int64_t shard, std::span<float> vector) {
      const int64_t first = ShardStart(batch.step_groups, options.shards, shard);
      const Groups groups = {first - batch.first_group,
                             ShardStart(batch.step_groups, options.shards, shard + 1) - first};
      if (groups.first < 0 || groups.first + groups.count > batch.positives)
        throw Error(ErrorCode::kInvalidArgument, "the batch lacks rows of a shard");
      const Losses losses = GradientOf(batch, groups, control);
      memory.Read(gradient, vector.first(size));
      std::ranges::copy(losses, vector.begin() + static_cast<std::ptrdiff_t>(size));
    };
    TreeSum(options.shards, options.processes != nullptr ? *options.processes : Alone()).Sum(compute, summed);
    Losses losses{};
    std::copy_n(summed.end() - std::ssize(losses), losses.size(), losses.begin());
    summed.resize(size);
    memory.Write(summed, gradient);
    return losses;
  }

  Losses GradientOf(const ContrastiveBatch& batch, Groups groups, std::vector<float>& control) {
    return options.micro_batch > 0 ? GradientInParts(batch, groups, control)
                                   : GradientAtOnce(batch, groups, control);
  }

  Losses GradientAtOnce(const ContrastiveBatch& batch, Groups groups, std::vector<float>& control) {
    Losses losses{};
    DeviceSession& session = Session(StepGraphKind::kGradient);
    BindStep(session, batch, groups, control);
    if (!has_addresses()) session.BindOutput(step_tensor::kGradient, gradient);
    for (const ParameterSlot& slot : slots())
      if (has_addresses())
        session.BindOutput(GradientName(slot.name), Slice(gradient, slot.offset, slot.shape));
    session.BindOutput(step_tensor::kLosses, HostArray(losses));
    session.Run();
    return losses;
  }

  Losses GradientInParts(const ContrastiveBatch& batch, Groups whole, std::vector<float>& control) {
    Losses losses{};
    for (const Groups& piece : Cut(FlatSize(), piece_size))
      memory.Write(std::vector<float>(static_cast<size_t>(piece.count)),
                   Slice(gradient, piece.first, {piece.count}));
    DeviceSession& session = Session(StepGraphKind::kAccumulate);
    for (const Groups& part : Cut(whole.count, options.micro_batch)) {
      BindStep(session, batch, {whole.first + part.first, part.count}, control);
      BindAccumulation(session);
      session.BindInput(step_tensor::kLosses, HostArray(losses));
      session.BindOutput(Next(step_tensor::kLosses), HostArray(losses));
      session.Run();
      if (swaps()) std::swap(gradient, next_gradient);
    }
    return losses;
  }

  void BindAccumulation(DeviceSession& session) {
    if (swaps()) {
      session.BindInput(step_tensor::kGradient, gradient);
      session.BindOutput(Next(step_tensor::kGradient), next_gradient);
      return;
    }
    for (const ParameterSlot& slot : slots()) {
      const std::string name = GradientName(slot.name);
      session.BindInput(name, Slice(gradient, slot.offset, slot.shape));
      session.BindOutput(Next(name), Slice(gradient, slot.offset, slot.shape));
    }
  }

  // Runs a graph on every piece of the flat vectors; `bind` binds what is not the same for all such graphs.
  // Returns the sum of the squares that it reports.
  template <typename Bind>
  double SumOverPieces(StepGraphKind kind, Bind&& bind) {
    double sum = 0;
    DeviceSession& session = Session(kind);
    for (const Groups& piece : Cut(FlatSize(), piece_size)) {
      std::array<float, 1> squares{};
      session.BindInput(step_tensor::kGradient, Slice(gradient, piece.first, {piece.count}));
      for (size_t i = 0; i < kinds.size(); ++i)
        session.BindInput(StateTensorName(kinds[i]), Slice(state[i], piece.first, {piece.count}));
      for (const auto& [name, vector] : constants)
        session.BindInput(name, Slice(vector, piece.first, {piece.count}));
      bind(session, piece);
      session.BindOutput(step_tensor::kSquares, HostArray(squares));
      session.Run();
      sum += squares[0];
    }
    return sum;
  }
  double SumOverPieces(StepGraphKind kind) {
    return SumOverPieces(kind, [](DeviceSession&, Groups) {});
  }

  ContrastiveLoss Evaluate(StepGraphKind kind, const BatchShape& expected, const ContrastiveBatch& batch,
                           const Ort::Value& parameters) {
    CheckBatch(batch, expected, dimension);
    std::vector<float> control = ControlVector(options.optimizer, 0, 1, batch.positives);
    DeviceSession& session = Session(kind);
    ContrastiveLoss total;
    for (const Groups& groups : Cut(batch.positives, options.micro_batch)) {
      Losses losses{};
      BindBatch(session, batch, groups);
      BindControl(session, control);
      BindParameters(session, parameters);
      session.BindOutput(step_tensor::kLosses, HostArray(losses));
      session.Run();
      total.loss += losses[0];
      total.energy_positive += losses[1];
      total.energy_negative += losses[2];
    }
    return total;
  }

  void EvaluateStates(std::span<const float> states, std::span<float> energies, std::span<float> slopes) {
    EvaluateStates(states, energies, slopes, state[0]);
  }

  void EvaluateStates(std::span<const float> states, std::span<float> energies, std::span<float> slopes,
                      const Ort::Value& parameters) {
    DeviceSession& session =
        Session(slopes.empty() ? StepGraphKind::kEnergy : StepGraphKind::kEnergyGradient);
    auto* const inputs = const_cast<float*>(states.data());  // ONNX Runtime does not write to inputs
    const std::vector<Groups> parts = Cut(static_cast<int64_t>(energies.size()), EnergiesAtOnce());
    constexpr double kWorthThreads = 1e12;
    ParallelFor(
        rows_of_thread > 0 ? options.threads : 1, std::ssize(parts), kWorthThreads, [&](int64_t index) {
          const Groups& part = parts[index];
          const std::vector<int64_t> extents = {part.count, dimension};
          DeviceSession::Runs runs = session.MoreRuns();
          runs.BindInput(step_tensor::kStates, HostTensor(inputs + part.first * dimension, extents));
          BindParameters(runs, parameters);
          runs.BindOutput(step_tensor::kEnergies, HostTensor(energies.data() + part.first, {part.count}));
          if (!slopes.empty())
            runs.BindOutput(step_tensor::kSlopes,
                            HostTensor(slopes.data() + part.first * dimension, extents));
          runs.Run();
        });
  }

  int64_t EnergiesAtOnce() const {
    const int64_t most = rows_of_thread > 0 ? rows_of_thread : kStatesAtOnce;
    return options.micro_batch > 0 ? std::min(most, options.micro_batch * (1 + shape.negatives)) : most;
  }

  void EvaluateTensor(std::span<const float> states, std::span<float> values) {
    const int64_t rows = std::ssize(states) / dimension, width = std::ssize(values) / rows;
    DeviceSession& session = Session(StepGraphKind::kTensor);
    auto* const inputs = const_cast<float*>(states.data());  // ONNX Runtime does not write to inputs
    for (const Groups& part : Cut(rows, kStatesAtOnce)) {
      session.BindInput(step_tensor::kStates,
                        HostTensor(inputs + part.first * dimension, {part.count, dimension}));
      BindParameters(session, state[0]);
      session.BindOutput(step_tensor::kTensor,
                         HostTensor(values.data() + part.first * width, {part.count, width}));
      session.Run();
    }
  }

  std::shared_ptr<const EnergyFunction> CurrentEnergy(bool with_slopes) {
    const auto evaluate = [this](auto... spans) { EvaluateStates(spans...); };
    if (with_slopes || quadratic) Session(StepGraphKind::kEnergyGradient);
    if (quadratic)
      if (auto energy = ReadQuadratic(dimension, evaluate, options.threads)) return energy;
    const int64_t rows_at_once = rows_of_thread > 0 ? EnergiesAtOnce() : 0;
    return MakeLearnerEnergy({dimension, rows_at_once, with_slopes, evaluate, CurrentBipartite()});
  }

  // Null where the network is no RBM, or one that samplers had better take as any other.
  std::shared_ptr<const BipartiteForm> CurrentBipartite() {
    if (!bipartite) return nullptr;
    const auto form = std::make_shared<BipartiteForm>(ReadBipartite(*bipartite, [&](const std::string& name) {
      const auto slot = std::ranges::find(slots(), name, &ParameterSlot::name);
      return ReadSlot(state[0], *slot);
    }));
    return form->IsUsable() ? form : nullptr;
  }

  std::vector<float> ReadSlot(const Ort::Value& vector, const ParameterSlot& slot) {
    std::vector<float> values(static_cast<size_t>(slot.size));
    memory.Read(vector, slot.offset, values);
    return values;
  }

  // The state vector `kind`, or the parameters if there is none.
  const Ort::Value& Vector(const std::string& kind) const {
    const auto found = std::ranges::find(kinds, kind);
    return state[found == kinds.end() ? 0 : static_cast<size_t>(found - kinds.begin())];
  }

  LearnerOptions options;
  BatchShape shape;
  DeviceMemoryPool memory;
  std::vector<std::string> kinds;  // of the state vectors
  size_t changing_kinds;           // of which the first so many change from step to step
  int64_t dimension;
  int64_t rows_of_thread = 0;  // whose energies one computes, beside others; 0: a device computes all at once
  bool quadratic = false;      // whether the energy is one in the input
  std::optional<BipartiteTerms> bipartite;
  std::unique_ptr<StepGraphs> graphs;
  std::string operators_on_cpu;
  std::map<StepGraphKind, DeviceSession> sessions;
  std::mutex sessions_mutex;
  std::vector<Ort::Value> state;       // in the order of kinds
  bool in_place = false;               // whether a step is several runs, the last on pieces of the vectors
  int64_t piece_size = 0;              // of those pieces
  std::vector<Ort::Value> next_state;  // swaps(): of the kinds that change
  Ort::Value gradient{nullptr};        // in place: all gradients
  Ort::Value next_gradient{nullptr};   // in place, of micro-batches, swaps(): what takes its place
  std::vector<float> summed;           // of shards: the gradients' sum
  std::map<std::string, Ort::Value> constants;  // in place: flat inputs that are no state
  std::vector<std::vector<float>> factors;      // of dropout, layer by layer, for the step under way
};

void KeepZeros(std::span<const float> parameters, std::span<float> average) {
  for (size_t i = 0; i < average.size(); ++i)
    if (parameters[i] == 0) average[i] = 0;
}

Learner::Learner(PreparedModel network, const LearnerOptions& options, const BatchShape& batch)
    : impl_(std::make_unique<Impl>(std::move(network), options, batch)) {}
Learner::~Learner() = default;
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;

int64_t Learner::dimension() const { return impl_->dimension; }
const std::string& Learner::operators_on_cpu() const { return impl_->operators_on_cpu; }
int64_t Learner::parameter_count() const { return impl_->FlatSize(); }

StepResult Learner::Step(const ContrastiveBatch& batch, double learning_rate, int64_t step) {
  Impl::CheckBatch(batch, impl_->shape, impl_->dimension);
  std::vector<float> control =
      ControlVector(impl_->options.optimizer, learning_rate, step, batch.step_groups);
  impl_->DrawFactors(batch, step);
  return impl_->in_place ? impl_->StepInPlace(batch, control) : impl_->StepAndSwap(batch, control);
}

ContrastiveLoss Learner::Evaluate(const ContrastiveBatch& batch, bool averaged) {
  return impl_->Evaluate(StepGraphKind::kEvaluate, impl_->shape, batch,
                         impl_->Vector(averaged ? "average" : "parameters"));
}

ContrastiveLoss Learner::Validate(const ContrastiveBatch& batch) {
  const auto& own = impl_->options.validation;
  if (!own) return Evaluate(batch, /*averaged=*/true);
  return impl_->Evaluate(StepGraphKind::kValidate, own->batch, batch, impl_->Vector("average"));
}

std::shared_ptr<const EnergyFunction> Learner::CurrentEnergy(bool gradient) {
  return impl_->CurrentEnergy(gradient);
}

void Learner::Energies(std::span<const float> states, std::span<float> energies, bool averaged) {
  impl_->EvaluateStates(states, energies, {}, impl_->Vector(averaged ? "average" : "parameters"));
}

void Learner::CurrentTensor(std::span<const float> states, std::span<float> values) {
  impl_->EvaluateTensor(states, values);
}

std::vector<StateTensor> Learner::DescribeState() const {
  std::vector<StateTensor> tensors;
  for (const std::string& kind : impl_->kinds) {
    for (const ParameterSlot& slot : impl_->slots())
      tensors.push_back({.kind = kind, .parameter = slot.name, .shape = slot.shape});
  }
  return tensors;
}

std::vector<float> Learner::ReadValues(const StateTensor& tensor) {
  const auto slot = std::ranges::find(impl_->slots(), tensor.parameter, &ParameterSlot::name);
  return impl_->ReadSlot(impl_->Vector(tensor.kind), *slot);
}

std::vector<StateTensor> Learner::ReadState() {
  std::vector<StateTensor> tensors = DescribeState();
  for (StateTensor& tensor : tensors) tensor.values = ReadValues(tensor);
  return tensors;
}

void Learner::WriteState(std::span<const StateTensor> state) {
  std::map<std::pair<std::string, std::string>, const StateTensor*> pieces;
  for (const StateTensor& tensor : state) pieces[{tensor.kind, tensor.parameter}] = &tensor;
  std::map<std::string, std::vector<float>> vectors;
  for (const std::string& kind : impl_->kinds) {
    std::vector<float>& vector = vectors[kind];
    vector.resize(static_cast<size_t>(impl_->FlatSize()));
    for (const ParameterSlot& slot : impl_->slots()) {
      const std::string name = kind + " of '" + slot.name + "'";
      const auto found = pieces.find({kind, slot.name});
      if (found == pieces.end()) {
        throw Error(ErrorCode::kInvalidArgument, "the training state lacks the " + name);
      }
      const StateTensor& tensor = *found->second;
      if (tensor.shape != slot.shape || tensor.values.size() != static_cast<size_t>(slot.size)) {
        throw Error(ErrorCode::kInvalidArgument,
                    "the " + name + " in the training state has another shape than the model");
      }
      std::ranges::copy(tensor.values, vector.begin() + slot.offset);
      pieces.erase(found);
    }
  }
  if (!pieces.empty()) {
    const auto& [kind, parameter] = pieces.begin()->first;
    throw Error(ErrorCode::kInvalidArgument, "the training state holds the " + kind + " of '" + parameter +
                                                 "', which this training does not know");
  }
  impl_->SetState([&](const std::string& kind) { return std::move(vectors.at(kind)); });
}

void Learner::Export(onnx::ModelProto& network, bool averaged) {
  const Ort::Value& vector = impl_->Vector(averaged ? "average" : "parameters");
  for (const ParameterSlot& slot : impl_->slots()) {
    const std::span<float> values = MutableParameter(network, slot);
    impl_->memory.Read(vector, slot.offset, values);
    if (averaged && impl_->options.penalties.l1 > 0)
      KeepZeros(impl_->ReadSlot(impl_->Vector("parameters"), slot), values);
  }
}

}  // namespace ort_ed
