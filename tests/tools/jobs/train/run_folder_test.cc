#include "tools/jobs/train/run_folder.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class RunFolder : public ::testing::Test {
 protected:
  void Touch(const std::string& name) const {
    fs::create_directories(fs::path(dir_.File(name)).parent_path());
    WriteBytes(dir_.File(name), "x");
  }

  std::set<std::string> Files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(dir_.path()))
      if (entry.is_regular_file()) names.insert(entry.path().lexically_relative(dir_.path()));
    return names;
  }

  TempDir dir_;
  const std::string folder_ = dir_.path();
};

TEST_F(RunFolder, OneLockAtATime) {
  std::optional<FolderLock> lock(folder_);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { FolderLock{folder_}; }, "another process is training", folder_);
  lock.reset();
  EXPECT_NO_THROW(FolderLock{folder_});
  ExpectError(
      ErrorCode::kIo, [&] { FolderLock{folder_ + "/none"}; }, "cannot open the folder");
}

TEST_F(RunFolder, NoneOrAnEmptyOneIsUnused) {
  for (const ExistingRun existing : {ExistingRun::kRefuse, ExistingRun::kReplace}) {
    EXPECT_NO_THROW(CheckUnused(folder_ + "/none", existing));
    EXPECT_NO_THROW(CheckUnused(folder_, existing));
  }
}

TEST_F(RunFolder, AFileIsNoFolder) {
  Touch("file");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { CheckUnused(dir_.File("file"), ExistingRun::kReplace); },
      "is a file; name a folder");
  ExpectError(
      ErrorCode::kIo, [&] { MakeFolder(dir_.File("file/run")); }, "cannot make the folder");
}

TEST_F(RunFolder, ARunIsReplacedOnlyOnRequest) {
  WriteBytes(dir_.File("config.toml"), WriteToml(TrainOptions()));
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { CheckUnused(folder_, ExistingRun::kRefuse); }, "is not empty",
      "--resume " + folder_, "--force");
  EXPECT_NO_THROW(CheckUnused(folder_, ExistingRun::kReplace));
  EXPECT_NO_THROW(RequireRunFolder(folder_));
}

TEST_F(RunFolder, WhatIsNoRunIsNeverReplaced) {
  const auto refuse = [&] {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { CheckUnused(folder_, ExistingRun::kReplace); },
        "is not empty and no run directory");
  };
  Touch("thesis.tex");
  refuse();
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { RequireRunFolder(folder_); }, "it has no config.toml");
  WriteBytes(dir_.File("config.toml"), "[server]\nport = 80\n");  // of another program
  refuse();
  // Of nobody, or of a user who has not run it yet.
  for (const std::string settings : {"", "[data]\ndata = \"rows.csv\"\n[optimizer]\nseed = 1\n"}) {
    WriteBytes(dir_.File("config.toml"), settings);
    refuse();
  }
}

TEST_F(RunFolder, ClearingRemovesTheFilesOfARunAndNothingElse) {
  for (const char* name : {"config.toml", "model.onnx", "best.onnx", "curves.png", "metrics.jsonl",
                           "events.out.tfevents.1.vm.2.ort-ed", "model.onnx.ort-ed-tmp-abc123",
                           "checkpoints/step-7.ckpt", "checkpoints/step-8.ckpt.ort-ed-tmp-abc123"})
    Touch(name);
  const std::set<std::string> mine = {"notes.txt",
                                      "model.onnx.bak",
                                      "my-config.toml",
                                      "checkpoints/mine.ckpt",
                                      "checkpoints/step-7",
                                      "deployed/model.onnx",
                                      "checkpoints/step-notes.ckpt",
                                      "model.onnx.tmp-backup",
                                      "events.out.tfevents.1.vm.2"};
  for (const std::string& name : mine) Touch(name);
  ClearRun(folder_);
  EXPECT_EQ(Files(), mine);
}

TEST_F(RunFolder, WhatATrainingReadsIsNotCleared) {
  for (const char* name : {"config.toml", "model.onnx", "variables.toml", "checkpoints/step-7.ckpt",
                           "rows.csv", "base/model.onnx"})
    Touch(name);
  const auto check = [&](auto TrainOptions::*part, auto member, const std::string& path) {
    TrainOptions options;
    options.*part.*member = path;
    CheckNotCleared(options, folder_);
  };
  fs::create_symlink(dir_.File("model.onnx"), dir_.File("link"));
  EXPECT_NO_THROW(check(&TrainOptions::data, &DataOptions::data, dir_.File("rows.csv")));
  EXPECT_NO_THROW(check(&TrainOptions::data, &DataOptions::data, "synth:pinwheel"));
  for (const char* name : {"variables.toml", "model.onnx", "checkpoints/../model.onnx", "link"}) {
    EXPECT_THROW(check(&TrainOptions::data, &DataOptions::data, dir_.File(name)), OptionError) << name;
    EXPECT_THROW(check(&TrainOptions::data, &DataOptions::validation, dir_.File(name)), OptionError) << name;
  }
  TrainOptions options;
  options.network.model = Choice(dir_.File("model.onnx"));
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { CheckNotCleared(options, folder_); }, "model", "is to be replaced");
}

TEST_F(RunFolder, TemporaryFilesAreThoseThatAKilledProcessLeft) {
  for (const char* name :
       {"model.onnx.ort-ed-tmp-abc123", "checkpoints/step-8.ckpt.ort-ed-tmp-XyZ789", "model.onnx",
        "checkpoints/step-7.ckpt", "mine.ort-ed-tmp-abc", "mine.ort-ed-tmp-abc1234", "mine.tmp-backup"})
    Touch(name);
  RemoveTemporaryFiles(folder_);
  EXPECT_THAT(Files(), UnorderedElementsAre("model.onnx", "checkpoints/step-7.ckpt", "mine.ort-ed-tmp-abc",
                                            "mine.ort-ed-tmp-abc1234", "mine.tmp-backup"));
}

TEST_F(RunFolder, ClearingAnEmptyOneDoesNothing) {
  ClearRun(folder_);
  RemoveTemporaryFiles(folder_);
  EXPECT_THAT(Files(), IsEmpty());
}

}  // namespace
}  // namespace ort_ed
