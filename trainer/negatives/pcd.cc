// Persistent contrastive divergence (Tieleman 2008): chains that go on from step to step, while the model
// changes under them slowly enough that they keep up. Each step draws as many of a buffer as it needs, moves
// them and puts them back.

#include <algorithm>
#include <numeric>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "trainer/negatives/model_chains.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDrawPurpose = 0x50434444;     // "PCDD": which chains a step moves
constexpr uint32_t kRestartPurpose = 0x50434452;  // "PCDR": which of them start anew, and where
constexpr int64_t kUsualBuffer = 10000;
constexpr char kChains[] = "chains", kReplicas[] = "replicas";

class PersistentChains final : public ModelChains {
 public:
  struct Options {
    ChainOptions chains;
    std::optional<int64_t> buffer = {};
    double restart = 0;

    static void Describe(Declare<Options>& declare) {
      declare.All(&Options::chains);
      declare("buffer", &Options::buffer, "[1, 1e9]", "chains that go on from step to step")
          .Default("10000, or as many as a step needs");
      declare(
          "restart", &Options::restart, "[0, 1]",
          "probability that a chain starts anew, from the mean of the data or the learned base, before its "
          "steps");
    }
  };

  PersistentChains(const Options& options, const RowContext& rows)
      : ModelChains(options.chains, rows),
        buffer_(options.buffer.value_or(std::max(kUsualBuffer, rows.step_negatives))),
        restart_(options.restart) {
    if (buffer_ < rows.step_negatives)
      throw OptionError("buffer", "must hold the chains of a step, batch_size x negatives = " +
                                      std::to_string(rows.step_negatives) + ", not " +
                                      std::to_string(buffer_));
  }

  void Fill(const StepView& view, ContrastiveBatch& batch) override {
    if (states_.empty()) Start(view);
    const std::vector<uint32_t> slots = DrawSlots(view, batch.positives * batch.negatives);
    States states = Take(slots);
    Restart(view, states);
    Advance(view, states);
    PutBack(slots, states);
    auto state = states.chains.begin();
    for (int64_t i = 0; i < batch.positives; ++i)
      for (uint8_t& bit : batch.Negatives(i)) bit = static_cast<uint8_t>(*state++);
  }

  OptionMap Describe(double progress) const override {
    OptionMap all = ModelChains::Describe(progress);
    all["buffer"] = buffer_;
    return all;
  }

  std::vector<StateTensor> Save() const override {
    if (states_.empty()) return {};
    std::vector<StateTensor> tensors(1);
    tensors[0] = {.owner = "negatives", .kind = kChains, .shape = {buffer_, dimension()}, .octets = states_};
    if (!replicas_.empty())
      tensors.push_back({.owner = "negatives",
                         .kind = kReplicas,
                         .shape = {buffer_, std::ssize(replicas_) / (buffer_ * dimension()), dimension()},
                         .octets = replicas_});
    return tensors;
  }

  void Load(std::span<const StateTensor> tensors) override {
    for (const StateTensor& tensor : tensors) {
      const bool chains = tensor.kind == kChains && tensor.shape == std::vector{buffer_, dimension()};
      const bool replicas = tensor.kind == kReplicas && tensor.shape.size() == 3 &&
                            tensor.shape[0] == buffer_ && tensor.shape[2] == dimension();
      if ((!chains && !replicas) || std::ssize(tensor.octets) != tensor.ElementCount())
        throw Error(ErrorCode::kInvalidArgument, "the " + tensor.kind +
                                                     " in the training state have another shape than " +
                                                     std::to_string(buffer_) + " chains of this model");
      (chains ? states_ : replicas_) = tensor.octets;
    }
  }

 private:
  void Start(const StepView& view) {
    if (view.step > 0) throw Error(ErrorCode::kInvalidArgument, "the training state lacks the chains");
    const std::vector<float> rows = base().DrawRows(view.seed, 0, buffer_);
    states_.assign(rows.begin(), rows.end());
  }

  // Without replacement, all alike.
  std::vector<uint32_t> DrawSlots(const StepView& view, int64_t count) const {
    if (count > buffer_)
      throw Error(ErrorCode::kInvalidArgument, "a step takes more chains than the buffer has");
    std::vector<uint32_t> slots(static_cast<size_t>(buffer_));
    std::iota(slots.begin(), slots.end(), 0u);
    if (count == buffer_) return slots;
    RandomStream random(view.seed, kDrawPurpose, static_cast<uint64_t>(view.step), 0);
    for (int64_t i = 0; i < count; ++i)
      std::swap(slots[i], slots[i + random.Below(static_cast<uint32_t>(buffer_ - i))]);
    slots.resize(static_cast<size_t>(count));
    return slots;
  }

  States Take(const std::vector<uint32_t>& slots) const {
    States states;
    const auto take = [&](const std::vector<uint8_t>& from, std::vector<float>& to) {
      const int64_t size = std::ssize(from) / buffer_;
      for (const uint32_t slot : slots)
        to.insert(to.end(), from.begin() + slot * size, from.begin() + (slot + 1) * size);
    };
    take(states_, states.chains);
    take(replicas_, states.replicas);
    return states;
  }

  void Restart(const StepView& view, States& states) const {
    if (restart_ == 0) return;
    const auto step = static_cast<uint64_t>(view.step);
    const auto count = std::ssize(states.chains) / dimension();
    const int64_t replicas_size = std::ssize(states.replicas) / count;
    const uint64_t seed = RandomStream(view.seed, kRestartPurpose, step, uint64_t{0xFFFFFFFF}).Next64();
    for (int64_t chain = 0; chain < count; ++chain) {
      RandomStream random(view.seed, kRestartPurpose, step, static_cast<uint64_t>(chain));
      if (!(random.UniformDouble() < restart_)) continue;
      const auto state = std::span(states.chains).subspan(chain * dimension(), dimension());
      base().Draw(seed, static_cast<uint64_t>(chain), state);
      for (int64_t i = 0; i < replicas_size; ++i)  // replicas start where their chain does
        states.replicas[chain * replicas_size + i] = state[i % dimension()];
    }
  }

  void PutBack(const std::vector<uint32_t>& slots, const States& states) {
    if (replicas_.empty() && !states.replicas.empty())
      StartReplicas(std::ssize(states.replicas) / std::ssize(states.chains));
    const auto put = [&](const std::vector<float>& from, std::vector<uint8_t>& to) {
      const int64_t size = std::ssize(to) / buffer_;
      for (size_t i = 0; i < slots.size(); ++i)
        std::copy_n(from.begin() + static_cast<int64_t>(i) * size, size, to.begin() + slots[i] * size);
    };
    put(states.chains, states_);
    put(states.replicas, replicas_);
  }

  // Of the chains that no step has moved yet, too.
  void StartReplicas(int64_t per_chain) {
    for (int64_t slot = 0; slot < buffer_; ++slot)
      for (int64_t k = 0; k < per_chain; ++k) {
        const auto state = states_.begin() + slot * dimension();
        replicas_.insert(replicas_.end(), state, state + dimension());
      }
  }

  int64_t buffer_;
  double restart_;
  std::vector<uint8_t> states_;    // buffer x dimension; empty: not started
  std::vector<uint8_t> replicas_;  // buffer x replicas x dimension; empty: the sampler has none, or not yet
};

}  // namespace

extern const NegativeKind kPcdNegatives;
const NegativeKind kPcdNegatives =
    SourceKind<PersistentChains>("pcd", "samples of the model by chains that go on from step to step",
                                 "contrastive-divergence", RowKind::kAny);

}  // namespace ort_ed
