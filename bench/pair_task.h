#pragma once

#include <memory>
#include <string>
#include <vector>

namespace ort_ed {

// One side of a comparison with other programs (bench/peers.py): work that is repeated and timed.
class PairTask {
 public:
  virtual ~PairTask() = default;
  virtual void SetThreads(int threads) = 0;
  // One unit of work. Returns a number that tells that it was done: a loss, a mean energy.
  virtual double Step() = 0;
  // What tells that the other sides do the same work (bench/peers.py --check): losses of steps on given rows,
  // energies of rows, or what sampled energies are on average, with the standard error. Nothing where there
  // is no such check.
  virtual std::vector<double> Check() { return {}; }
};

// A training step of "mlp" or "resnet"; `standard` leaves out our own kernels.
std::unique_ptr<PairTask> MakeTrainTask(const std::string& network, bool standard);
// Of the network in a file, with `batch` positives, without the parameters that the patterns select
// (bench/families.py).
std::unique_ptr<PairTask> MakeTrainFileTask(const std::string& path, int64_t batch,
                                            const std::vector<std::string>& frozen, bool standard);
// A step of persistent contrastive divergence of "resnet" with chains of "gwg" or "dula".
std::unique_ptr<PairTask> MakePcdTask(const std::string& sampler, bool standard);
// Energies of a batch of rows of "mlp" or "resnet".
std::unique_ptr<PairTask> MakeScoreTask(const std::string& network);
// A Gibbs sweep of all chains over all sites of "ising" or "mlp".
std::unique_ptr<PairTask> MakeGibbsTask(const std::string& network);
// One temperature of annealed importance sampling on "mlp": a sweep of all chains and the update of their
// weights.
std::unique_ptr<PairTask> MakeAisTask();

}  // namespace ort_ed
