#include "tools/jobs/draw_data.h"

#include <array>
#include <memory>

#include "runtime/data/row_writer.h"
#include "tools/jobs/data/synthetic_set.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

// The files beside the rows themselves.
class Companions {
 public:
  Companions(const DrawDataOptions& options, const SyntheticSet& set)
      : seed_(options.seed), set_(set), planar_(options.planar), couplings_(options.couplings) {
    if (!planar_.empty()) points_ = CreateFloatFile(planar_, {.columns = 2, .names = {"x", "y"}});
    if (couplings_.empty()) return;
    matrix_ = CreateFloatFile(couplings_, {.columns = set.columns()});
    const std::vector<double> couplings = set.Couplings();
    matrix_->Write(std::vector<float>(couplings.begin(), couplings.end()));
  }

  void AddRows(int64_t count) {
    for (const int64_t end = row_ + count; row_ < end; ++row_) {
      if (!points_) continue;
      const PlanarPoint point = set_.Point(seed_, row_);
      points_->Write(std::array{static_cast<float>(point.x), static_cast<float>(point.y)});
    }
  }

  void Commit(Observer& observer) {
    if (points_) points_->Commit(), observer.OnSaved(planar_);
    if (matrix_) matrix_->Commit(), observer.OnSaved(couplings_);
  }

 private:
  uint64_t seed_;
  const SyntheticSet& set_;
  std::string planar_, couplings_;
  int64_t row_ = 0;
  std::unique_ptr<RowWriter<float>> points_, matrix_;
};

}  // namespace

void DrawDataOptions::Describe(Declare<DrawDataOptions>& declare) {
  using O = DrawDataOptions;
  declare("set", &O::name, SyntheticTable, "what to draw").Positional();
  declare("rows", &O::rows, "[1, inf)", "rows to draw").Letter('n');
  declare("seed", &O::seed, "[0, inf)", "row i of a seed is always the same, however many are drawn");
  declare("output", &O::output, "FILE",
          "rows of 0 and 1: .npy, .bits.npy (packed), .csv or .tsv; - is CSV on stdout")
      .Letter('o')
      .Required();
  declare("planar", &O::planar, "FILE",
          "planar sets: also write the points themselves, two numbers per row: .npy, .csv or .tsv")
      .When("set", SyntheticNames(&SyntheticKind::has_points));
  declare("couplings", &O::couplings, "FILE", "ising: also write J, one row per spin: .npy, .csv or .tsv")
      .When("set", SyntheticNames(&SyntheticKind::has_couplings));
  declare("threads", &O::threads, "[0, 1024]", "ising: threads; 0: all cores; the rows do not depend on it")
      .When("set", SyntheticNames(&SyntheticKind::uses_threads));
}

DrawDataResult DrawData(const DrawDataOptions& options, Observer& observer) {
  const Stopwatch stopwatch;
  const auto set = MakeSyntheticSet(options.name, options.threads, "set");
  DrawDataResult result;
  result.columns = set->columns();
  result.row = set->DescribeRow();
  const auto bits = CreateBitFile(options.output, {.columns = set->columns()});
  Companions companions(options, *set);
  set->Draw(
      options.rows, options.seed,
      [&](std::span<const uint8_t> rows) {
        bits->Write(rows);
        const int64_t count = std::ssize(rows) / result.columns;
        companions.AddRows(count);
        result.rows += count;
      },
      observer);
  companions.Commit(observer);
  bits->Commit();
  observer.OnSaved(options.output);
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
