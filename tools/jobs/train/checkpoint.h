#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/jobs/observer.h"
#include "trainer/learner/state_tensor.h"

namespace ort_ed {

// Everything a training needs to go on where it was: a run continues from its configuration, its data and one
// of these.
struct Checkpoint {
  int64_t step = 0;  // steps done
  // What must not change between interruption and resumption, as text by key. Empty: written by a version
  // that kept only a hash of it.
  std::map<std::string, std::string> configuration;
  std::string former_hash = {};  // format 1: a hash of its configuration
  std::string data;              // hash of the training data
  std::string model;             // the energy model as ONNX bytes; its parameters' values are in `state`
  std::map<std::string, double> running;     // sums of the metrics since the last logged line
  std::map<std::string, double> watch = {};  // what LearningWatch goes by
  std::vector<StateTensor> state;            // of all owners

  // Those of the owner and of owners below it ("owner/...").
  std::vector<StateTensor> SelectTensors(const std::string& owner) const;
};

// Gives the values of a float tensor of the state when they are to be written.
using StateValues = std::function<std::vector<float>(const StateTensor&)>;

// One file, written atomically: magic and format version, a JSON header, the model, the tensors, and a CRC of
// it all. With `values`, floats in the state need not be there: no more than one tensor is in memory at a
// time. Throws kIo.
void WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint, const StateValues& values = {});

// Throws kBadData, naming the file, if it is not a checkpoint, truncated or damaged; kIo if it cannot be
// read.
Checkpoint ReadCheckpoint(const std::string& path);

// The checkpoints of one run: folder/step-<N>.ckpt.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string folder) : folder_(std::move(folder)) {}

  std::string MakePath(int64_t step) const;
  std::vector<int64_t> Steps() const;  // ascending

  // Writes one and, after it is safely there, removes all but the newest `keep`.
  void Write(const Checkpoint& checkpoint, int keep, const StateValues& values = {}) const;

  // Throws kInvalidArgument if there is none of this step; the message lists those there are.
  Checkpoint Read(int64_t step) const;
  // The newest that is whole; the observer hears of damaged ones, which are passed over. Nothing if there is
  // none. Throws kBadData if every one is damaged.
  std::optional<Checkpoint> ReadNewest(Observer& observer) const;

 private:
  std::string folder_;
};

}  // namespace ort_ed
