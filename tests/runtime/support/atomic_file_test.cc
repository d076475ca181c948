#include "runtime/support/files/atomic_file.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "tests/support/error_matchers.h"
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

// Whether `work`, done as a user who may not write everywhere, says so.
bool IsRefusedToNobody(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && seteuid(kNobody) != 0) _exit(2);
    try {
      work();
    } catch (const Error& error) {
      _exit(std::string(error.what()).find("write-protected") != std::string::npos ? 0 : 3);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(AtomicFile, AWriteProtectedFileIsNotReplaced) {
  const TempDir folder;
  const std::string path = folder.File("a.txt");
  WriteFileAtomically(path, "old");
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::group_read |
                                         std::filesystem::perms::others_read);
  EXPECT_TRUE(IsRefusedToNobody([&] { WriteFileAtomically(path, "new"); }));
  EXPECT_EQ(FileContents(path), "old");
}

void Touch(const std::string& path) { std::ofstream(path) << "mine"; }

TEST(AtomicFile, WhatAKilledProgramLeftIsRemovedByTheNext) {
  const TempDir folder;
  const std::string path = folder.File("m.onnx");
  const std::vector<std::string> kept = {"m.onnx", "m.onnx.ort-ed-tmp-abc", "m.onnx.ort-ed-tmp-abcdefg",
                                         "n.onnx.ort-ed-tmp-abcdef", "m.onnx.tmp-backup"};
  for (const std::string& name : kept) Touch(folder.File(name));
  Touch(folder.File("m.onnx.ort-ed-tmp-abc123"));
  {
    AtomicFile under_way(path), another(path);  // which leaves the first alone
    under_way.Write("new");
    under_way.Commit();
  }
  EXPECT_EQ(FileContents(path), "new");
  EXPECT_FALSE(std::filesystem::exists(folder.File("m.onnx.ort-ed-tmp-abc123")));
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder.File(name))) << name;
}

TEST(AtomicFile, WhatIsUnfinishedGoesWhenTheProgramEndsAtOnce) {
  const TempDir folder;
  AtomicFile file(folder.File("a.txt"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  RemoveUnfinished();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AtomicFile, ALinkThatLeadsNowhereIsLeftAlone) {
  const TempDir folder;
  const std::string link = folder.File("link.txt");
  std::filesystem::create_symlink(folder.File("nothing/there.txt"), link);
  ExpectError(
      ErrorCode::kIo, [&] { WriteFileAtomically(link, "new"); }, link, "nothing/there.txt", "does not exist");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(AtomicFile, ANameMayBeAsLongAsNamesAre) {
  const TempDir folder;
  for (const size_t length : {240, 254, 255}) {
    const std::string path = folder.File(std::string(length, 'n'));
    WriteFileAtomically(path, "new");
    EXPECT_EQ(FileContents(path), "new");
  }
  const std::string path = folder.File(std::string(256, 'n'));
  ExpectError(
      ErrorCode::kIo, [&] { WriteFileAtomically(path, "new"); }, "cannot write", "too long");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
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
