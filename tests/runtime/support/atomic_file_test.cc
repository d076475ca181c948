#include "runtime/support/atomic_file.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "tests/support/file_contents.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

TEST(AtomicFile, AppearsOnlyOnCommit) {
  const TempDir folder;
  const std::string path = folder.File("a.txt");
  {
    AtomicFile file(path);
    file.Write("hello");
    EXPECT_FALSE(std::filesystem::exists(path));
    file.WriteAt(0, "J");
    file.Commit();
  }
  EXPECT_EQ(FileContents(path), "Jello");
}

TEST(AtomicFile, WithoutCommitTheOldFileStaysAndNothingIsLeft) {
  const TempDir folder;
  const std::string path = folder.File("a.txt");
  WriteFileAtomically(path, "old");
  { AtomicFile(path).Write("new"); }
  EXPECT_EQ(FileContents(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, ALinkStaysALinkAndAModeAMode) {
  const TempDir folder;
  const std::string path = folder.File("real.txt"), link = folder.File("link.txt");
  WriteFileAtomically(path, "old");
  std::filesystem::permissions(path,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(path, link);
  WriteFileAtomically(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(FileContents(path), "new");
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(AtomicFile, WhatAKilledProgramLeftIsRemoved) {
  const TempDir folder;
  const std::string path = folder.File("m.onnx");
  const std::vector<std::string> kept = {"m.onnx", "m.onnx.tmp-abc", "m.onnx.tmp-abcdefg",
                                         "n.onnx.tmp-abcdef"};
  for (const std::string& name : kept) WriteFileAtomically(folder.File(name), "mine");
  WriteFileAtomically(folder.File("m.onnx.tmp-abc123"), "left behind");
  {
    AtomicFile under_way(path);
    under_way.Write("new");
    RemoveAbandoned(path);
    under_way.Commit();
  }
  EXPECT_EQ(FileContents(path), "new");
  EXPECT_FALSE(std::filesystem::exists(folder.File("m.onnx.tmp-abc123")));
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder.File(name))) << name;
}

TEST(AtomicFile, MissingFolderIsAnErrorThatNamesThePath) {
  try {
    AtomicFile file("/nowhere/at/all.txt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all.txt"), std::string::npos);
  }
}

TEST(AtomicFile, ADeviceIsNotReplacedByAFile) {
  try {
    AtomicFile file("/dev/null");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace ort_ed
