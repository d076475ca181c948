#include "runtime/support/atomic_file.h"

#include <filesystem>

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
