#include "runtime/data/row_writer.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/data/npy.h"
#include "runtime/data/row_reader.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RowWriter, WhatIsWrittenInPiecesIsReadBackInEveryFormat) {
  constexpr int64_t kColumns = 19;
  const TempDir folder;
  std::vector<uint8_t> bits;
  for (int64_t i = 0; i < 5000 * kColumns; ++i) bits.push_back(i * i % 7 < 3);
  for (const std::string name : {"x.npy", "x.bits.npy", "x.csv", "x.tsv"}) {
    const std::string path = folder.File(name);
    const auto writer = CreateBitFile(path, {.columns = kColumns});
    size_t done = 0;
    for (size_t rows = 1; done < bits.size(); rows *= 3) {
      const size_t count = std::min(rows * kColumns, bits.size() - done);
      writer->Write(std::span(bits).subspan(done, count));
      done += count;
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    writer->Commit();
    const RowTable table = ReadRows(path, {.columns = kColumns});
    EXPECT_EQ(table.rows, 5000) << name;
    EXPECT_EQ(table.values, bits) << name;
  }
}

TEST(RowWriter, FloatsKeepEveryBitInNpyAndText) {
  const TempDir folder;
  const std::vector<float> values = {0.1f, -1e-30f, 3.0f, 123456.789f};
  const auto npy = CreateFloatFile(folder.File("x.npy"), {.columns = 2});
  npy->Write(values);
  npy->Commit();
  const NpyArray array = ReadNpy(folder.File("x.npy"));
  EXPECT_THAT(array.shape, ElementsAre(2, 2));
  EXPECT_EQ(std::vector<float>(array.values.begin(), array.values.end()), values);
  const auto csv = CreateFloatFile(folder.File("x.csv"), {.columns = 2, .names = {"a", "b,c"}});
  csv->Write(values);
  csv->Commit();
  EXPECT_EQ(ReadBytes(folder.File("x.csv")), "a,\"b,c\"\n0.1,-1e-30\n3,123456.79\n");
}

TEST(RowWriter, AVectorIsOneDimensional) {
  const TempDir folder;
  const auto writer = CreateFloatFile(folder.File("x.npy"), {.vector = true});
  writer->Write(std::vector<float>{1, 2, 3});
  writer->Commit();
  EXPECT_THAT(ReadNpy(folder.File("x.npy")).shape, ElementsAre(3));
  const std::string bytes = ReadBytes(folder.File("x.npy"));
  EXPECT_EQ(bytes.size() % 64, 3 * sizeof(float));  // the data is aligned, as numpy wants it
  EXPECT_THAT(bytes, HasSubstr("'shape': (3,), }"));
}

TEST(RowWriter, WithoutCommitNothingIsLeft) {
  const TempDir folder;
  CreateBitFile(folder.File("x.npy"), {.columns = 1})->Write(std::vector<uint8_t>(1 << 20));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RowWriter, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_THAT(MessageOf(ErrorCode::kInvalidArgument, [] { CreateBitFile("x.png", {}); }),
              HasSubstr(".npy, .bits.npy, .csv or .tsv"));
  EXPECT_THAT(MessageOf(ErrorCode::kInvalidArgument, [] { CreateFloatFile("x.bits.npy", {}); }),
              HasSubstr("real numbers"));
  MessageOf(ErrorCode::kInvalidArgument, [] { CreateBitFile("x.npy", {.columns = 0}); });
}

// A limit on the size of files stands for a full disk.
TEST(RowWriter, AFullDiskIsAnErrorThatNamesTheFileAndLeavesNothing) {
  const TempDir folder;
  const std::string path = folder.File("x.npy");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 100000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = MessageOf(
      ErrorCode::kIo, [&] { CreateBitFile(path, {.columns = 1})->Write(std::vector<uint8_t>(200000)); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RowWriter, AStandardOutputThatTakesNothingIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const int before = dup(STDOUT_FILENO);
  std::fflush(stdout);
  ASSERT_NE(std::freopen("/dev/full", "w", stdout), nullptr);
  const auto writer = CreateBitFile("-", {.columns = 1});
  const std::string message = MessageOf(ErrorCode::kIo, [&] { writer->Write(std::vector<uint8_t>(10)); });
  std::clearerr(stdout);
  ASSERT_GE(dup2(before, STDOUT_FILENO), 0);
  close(before);
  EXPECT_THAT(message, HasSubstr("standard output"));
}

}  // namespace
}  // namespace ort_ed
