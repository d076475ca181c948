// Every command that writes files meets a full disk: one message that names the file, exit code 1, no file
// that was not there, and those that were as they were.

#include <filesystem>
#include <map>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/small_disk.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

enum class Kind {
  kFileSizeLimit,  // EFBIG; needs no rights
  kSmallDisk,      // ENOSPC, as it is in life; needs root
};

using Arguments = std::vector<std::string>;

class FullDisk : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::kSmallDisk && !disk_.emplace(folder_.path()).mounted())
      GTEST_SKIP() << "only root may mount a file system";
    Succeeds({"new", "mlp", "-D", "32", "--hidden", "64,64", "-o", model_});
    Succeeds({"data", "pinwheel", "-n", "500", "-o", rows_});
  }

  std::string Path(const std::string& name) const { return folder_.File(name); }

  static void Succeeds(const Arguments& arguments) {
    const CommandResult result = RunOrtEd(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  // Runs with room for `room` bytes.
  CommandResult RunFull(const Arguments& arguments, int64_t room) {
    if (!disk_) {
      const FileSizeLimit limit(static_cast<rlim_t>(room));
      return RunOrtEd(arguments);
    }
    disk_->Fill(room);
    EXPECT_TRUE(disk_->filled());
    const CommandResult result = RunOrtEd(arguments);
    disk_->Free();
    return result;
  }

  std::string Reason() const { return disk_ ? "No space left on device" : "File too large"; }

  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      if (entry.is_regular_file()) files[entry.path()] = ReadBytes(entry.path());
    return files;
  }

  void ExpectFailure(const Arguments& arguments, const std::string& file) {
    const auto before = Files();
    const CommandResult result = RunFull(arguments, 4096);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("error: cannot write '" + file), HasSubstr(Reason())));
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(Files() == before) << arguments[0];
  }

  // What took long is shown before what comes of it is written.
  void ExpectFailureAfterResult(const Arguments& arguments, const std::string& file,
                                const std::string& result_part) {
    const auto before = Files();
    const CommandResult result = RunFull(arguments, 4096);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("error: cannot write '" + file), HasSubstr(Reason())));
    EXPECT_THAT(result.out, HasSubstr(result_part));
    EXPECT_TRUE(Files() == before) << arguments[0];
  }

  // Interrupts the training of `arguments` by a full disk after its first 20 steps, then resumes it. The
  // model must be the one of a run that always had space.
  void TrainIntoAFullDisk(const Arguments& options, int64_t room,
                          const testing::Matcher<const std::string&>& file) {
    const auto train = [&](const std::string& run, const std::string& steps) {
      Arguments arguments = {"train",        "--data", rows_,         "--decay",  "constant",
                             "--batch-size", "16",     "--negatives", "2",        "--steps",
                             steps,          "-o",     run,           "--method", "bernoulli"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      Succeeds(arguments);
    };
    train(Path("run"), "20");
    const CommandResult stopped = RunFull({"train", "--resume", Path("run"), "--steps", "200"}, room);
    EXPECT_EQ(stopped.exit_code, 1);
    EXPECT_EQ(stopped.out, "");
    EXPECT_THAT(stopped.err, AllOf(HasSubstr("cannot write '" + Path("run/")), file, HasSubstr(Reason())));
    Succeeds({"train", "--resume", Path("run"), "--steps", "200"});
    train(Path("whole"), "200");
    EXPECT_TRUE(ReadBytes(Path("run/model.onnx")) == ReadBytes(Path("whole/model.onnx")));
  }

  TempDir folder_;
  std::optional<SmallDisk> disk_;  // over the folder
  std::string model_ = folder_.File("model.onnx");
  std::string rows_ = folder_.File("rows.npy");
};

INSTANTIATE_TEST_SUITE_P(Kinds, FullDisk, testing::Values(Kind::kFileSizeLimit, Kind::kSmallDisk),
                         [](const auto& kind) {
                           return kind.param == Kind::kSmallDisk ? "SmallDisk" : "FileSizeLimit";
                         });

TEST_P(FullDisk, New) { ExpectFailure({"new", "mlp", "-D", "32", "-o", Path("m.onnx")}, Path("m.onnx")); }

TEST_P(FullDisk, Data) {
  ExpectFailure({"data", "moons", "-n", "1000", "-o", Path("x.npy")}, Path("x.npy"));
  ExpectFailure({"data", "moons", "-n", "1000", "--planar", Path("points.npy"), "-o", Path("x.bits.npy")},
                Path(""));
  ExpectFailure({"data", "ising", "--shape", "6x6", "-n", "1000", "--steps", "36", "-o", Path("x.npy")},
                Path("x.npy"));
}

TEST_P(FullDisk, Export) {
  ExpectFailure({"export", model_, "--with-gradient", "-o", Path("m.onnx")}, Path("m.onnx"));
}

TEST_P(FullDisk, Score) { ExpectFailure({"score", model_, rows_, "-o", Path("e.csv")}, Path("e.csv")); }

TEST_P(FullDisk, Sample) {
  ExpectFailure({"sample", model_, "-n", "200", "--steps", "4", "-o", Path("x.npy")}, Path("x.npy"));
  ExpectFailure({"sample", model_, "-n", "200", "--steps", "20", "--trace", Path("trace.npy"), "-o",
                 Path("x.bits.npy")},
                Path(""));
}

TEST_P(FullDisk, LogZWrite) {
  ExpectFailureAfterResult({"logz", model_, "--temperatures", "3", "--chains", "25", "--write"}, model_,
                           "log Z");
}

TEST_P(FullDisk, EvalPicture) {
  ExpectFailureAfterResult(
      {"eval", model_, "--data", rows_, "--estimator", "ais", "--temperatures", "3", "--chains", "5",
       "--steps", "3", "--samples", "20", "--png", Path("energies.png")},
      Path("energies.png"), "bits per dimension");
}

TEST_P(FullDisk, Plot) {
  ExpectFailure({"plot", "planar", rows_, "--density", "pinwheel", "-o", Path("p.png")}, Path("p.png"));
}

TEST_P(FullDisk, TrainKeepsTheLastGoodCheckpoint) {
  TrainIntoAFullDisk({"--hidden", "64,64", "--checkpoint-every", "20", "--log-every", "50"}, 1 << 15,
                     HasSubstr("/checkpoints/"));
}

TEST_P(FullDisk, TrainWhoseMetricsCannotBeWritten) {
  TrainIntoAFullDisk({"--model", "ising", "--checkpoint-every", "100", "--log-every", "1"}, 1 << 14,
                     AnyOf(HasSubstr("/metrics.jsonl"), HasSubstr("/events.out")));
}

}  // namespace
}  // namespace ort_ed
