#include "tools/jobs/train/checkpoint.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "ort_ed/error.h"
#include "tests/support/file_contents.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

class Listener : public Observer {
 public:
  void OnWarning(const std::string& text) override { warnings.push_back(text); }
  std::vector<std::string> warnings;
};

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Checkpoint Example(int64_t step) {
  return {.step = step,
          .configuration = {{"epsilon", "0.1"}, {"method", "bernoulli"}},
          .data = "def",
          .model = std::string("\0model\n", 7),
          .running = {{"loss", 0.1}, {"lines", 3}},
          .state = {{"energy", "parameters", "weight", {3, 1}, {1.5f, -2.25f, 1e-30f}},
                    {"energy", "parameters", "empty", {0}, {}},
                    {"energy", "average", "weight", {3, 1}, {0.f, -0.f, 3.f}},
                    {"negatives", "chains", "", {2, 2}, {}, {0, 1, 1, 255}}}};
}

void ExpectEqual(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.configuration, b.configuration);
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.running, b.running);
  ASSERT_EQ(a.state.size(), b.state.size());
  for (size_t i = 0; i < a.state.size(); ++i) {
    EXPECT_EQ(a.state[i].owner, b.state[i].owner);
    EXPECT_EQ(a.state[i].kind, b.state[i].kind);
    EXPECT_EQ(a.state[i].parameter, b.state[i].parameter);
    EXPECT_EQ(a.state[i].shape, b.state[i].shape);
    EXPECT_EQ(a.state[i].values, b.state[i].values);
    EXPECT_EQ(a.state[i].octets, b.state[i].octets);
  }
}

void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ErrorOf(const std::string& path) {
  try {
    ReadCheckpoint(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Checkpoint, ReadsBackWhatWasWritten) {
  TempDir dir;
  WriteCheckpoint(dir.File("a.ckpt"), Example(7));
  ExpectEqual(ReadCheckpoint(dir.File("a.ckpt")), Example(7));
}

TEST(Checkpoint, TensorsAreThoseOfTheirOwner) {
  const Checkpoint checkpoint = Example(7);
  EXPECT_EQ(checkpoint.SelectTensors("energy").size(), 3u);
  ASSERT_EQ(checkpoint.SelectTensors("negatives").size(), 1u);
  EXPECT_EQ(checkpoint.SelectTensors("negatives")[0].kind, "chains");
  EXPECT_TRUE(checkpoint.SelectTensors("nobody").empty());
}

TEST(Checkpoint, ValuesMayComeWhenTheyAreWritten) {
  TempDir dir;
  Checkpoint checkpoint = Example(7);
  for (StateTensor& tensor : checkpoint.state) tensor.values.clear();
  const Checkpoint whole = Example(7);
  WriteCheckpoint(dir.File("a.ckpt"), checkpoint, [&](const StateTensor& wanted) {
    for (const StateTensor& tensor : whole.state)
      if (tensor.kind == wanted.kind && tensor.parameter == wanted.parameter) return tensor.values;
    return std::vector<float>();
  });
  ExpectEqual(ReadCheckpoint(dir.File("a.ckpt")), whole);
}

TEST(Checkpoint, EveryFlippedByteAndEveryTruncationIsFound) {
  TempDir dir;
  const std::string path = dir.File("a.ckpt");
  WriteCheckpoint(path, Example(7));
  const std::string whole = FileContents(path);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 0x10;
    WriteAll(path, flipped);
    EXPECT_THAT(ErrorOf(path), HasSubstr("a.ckpt' is not a usable checkpoint")) << "byte " << i;
    WriteAll(path, whole.substr(0, i));
    EXPECT_THAT(ErrorOf(path), HasSubstr("a.ckpt' is not a usable checkpoint")) << "cut at " << i;
  }
}

TEST(Checkpoint, ForeignAndMissingFilesAreNamed) {
  TempDir dir;
  WriteAll(dir.File("b.ckpt"), "something else entirely, and long enough");
  EXPECT_THAT(ErrorOf(dir.File("b.ckpt")), HasSubstr("does not start like one"));
  EXPECT_THAT(ErrorOf(dir.File("none.ckpt")), HasSubstr("cannot read"));
}

TEST(CheckpointFolder, KeepsTheNewestAndReadsThem) {
  TempDir dir;
  const CheckpointFolder folder(dir.File("checkpoints"));
  Listener listener;
  EXPECT_FALSE(folder.ReadNewest(listener));
  for (const int64_t step : {0, 5, 10, 100}) folder.Write(Example(step), 2);
  WriteAll(dir.File("checkpoints/step-200.ckpt.tmp-abcdef"), "left by a killed process");
  EXPECT_THAT(folder.Steps(), ElementsAre(10, 100));
  EXPECT_EQ(folder.ReadNewest(listener)->step, 100);
  EXPECT_THAT(listener.warnings, IsEmpty());
  EXPECT_EQ(folder.Read(10).step, 10);
  try {
    folder.Read(5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no checkpoint of step 5; there are 10, 100"));
  }
}

TEST(CheckpointFolder, PassesOverADamagedNewestOneAndReplacesIt) {
  TempDir dir;
  const CheckpointFolder folder(dir.File("checkpoints"));
  folder.Write(Example(10), 3);
  folder.Write(Example(20), 3);
  std::filesystem::resize_file(folder.MakePath(20), 50);
  Listener listener;
  EXPECT_EQ(folder.ReadNewest(listener)->step, 10);
  EXPECT_THAT(listener.warnings, ElementsAre(HasSubstr("step-20.ckpt' is not a usable checkpoint")));
  folder.Write(Example(15), 3);
  EXPECT_THAT(folder.Steps(), ElementsAre(10, 15));
}

TEST(CheckpointFolder, APipeIsNoCheckpoint) {
  const TempDir dir;
  const CheckpointFolder folder(dir.path());
  folder.Write(Example(7), 3);
  ASSERT_EQ(mkfifo(folder.MakePath(9).c_str(), 0600), 0);
  Listener listener;
  EXPECT_EQ(folder.ReadNewest(listener)->step, 7);
  ASSERT_EQ(listener.warnings.size(), 1u);
  EXPECT_THAT(listener.warnings[0], HasSubstr("it is a pipe"));
}

TEST(CheckpointFolder, AllDamagedIsAnError) {
  TempDir dir;
  const CheckpointFolder folder(dir.File("checkpoints"));
  folder.Write(Example(10), 3);
  std::filesystem::resize_file(folder.MakePath(10), 50);
  Listener listener;
  EXPECT_THROW(folder.ReadNewest(listener), Error);
}

}  // namespace
}  // namespace ort_ed
