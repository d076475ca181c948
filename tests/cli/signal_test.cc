// Commands end soon after a signal, whatever they wait for, and clean up; what files call things is shown
// without control characters.
#include <chrono>
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Model() {
  return ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
      g (float[N, 3] x) => (float[N] energy) <float[3] w = {1, 2, 3}, int64[1] axes = {1}>
      { p = Mul(x, w) energy = ReduceSum <keepdims = 0> (p, axes) })");
}

class Signals : public ::testing::TestWithParam<std::vector<std::string>> {
 protected:
  Signals() {
    WriteBytes(folder_.File("m.onnx"), Model());
    mkfifo(folder_.File("pipe").c_str(), 0600);
  }

  TempDir folder_;
};

// The names of files stand for those in the folder.
std::vector<std::string> InFolder(const TempDir& folder, std::vector<std::string> words) {
  for (std::string& word : words)
    if (word.find('.') != std::string::npos || word == "pipe") word = folder.File(word);
  return words;
}

TEST_P(Signals, EndACommandThatWaitsForAPipe) {
  for (const int signal : {SIGINT, SIGTERM}) {
    CommandProcess process(InFolder(folder_, GetParam()));
    usleep(1500000);  // until it waits
    ASSERT_TRUE(process.Running());
    const auto start = std::chrono::steady_clock::now();
    process.Signal(signal);
    const CommandResult result = process.Wait();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));  // one, on a busy machine
    EXPECT_EQ(result.exit_code, 128 + signal);
    EXPECT_THAT(result.err, HasSubstr("interrupted"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2) << "files are left";
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, Signals,
                         testing::Values(std::vector<std::string>{"score", "m.onnx", "pipe", "-o", "out.csv"},
                                         std::vector<std::string>{"inspect", "pipe"},
                                         std::vector<std::string>{"train", "--data", "synth:pinwheel",
                                                                  "--validation", "pipe", "-o", "run.d"}));

// Ctrl-C ends the program that writes into the pipe, too.
TEST(CutShort, ThePartOfAPipeThatCameIsNoInput) {
  const TempDir folder;
  WriteBytes(folder.File("m.onnx"), Model());
  ASSERT_EQ(mkfifo(folder.File("pipe").c_str(), 0600), 0);
  for (const bool closed_first : {false, true}) {
    CommandProcess process(
        {"score", folder.File("m.onnx"), folder.File("pipe"), "-o", folder.File("out.csv")});
    const int pipe = open(folder.File("pipe").c_str(), O_WRONLY);
    ASSERT_GE(pipe, 0);
    ASSERT_EQ(write(pipe, "0,1,0\n", 6), 6);
    usleep(1000000);  // until it waits
    if (closed_first) close(pipe);
    process.Signal(SIGINT);
    if (!closed_first) {
      usleep(20000);
      close(pipe);
    }
    const CommandResult result = process.Wait();
    EXPECT_EQ(result.exit_code, 128 + SIGINT) << closed_first << result.err;
    EXPECT_THAT(result.err, HasSubstr("interrupted"));
    EXPECT_FALSE(std::filesystem::exists(folder.File("out.csv"))) << closed_first;
  }
}

TEST(PlainText, NamesAreShownWithoutControlCharacters) {
  const TempDir folder;
  const std::string escape = "\x1b]0;title\x07";
  WriteBytes(folder.File("m.onnx"), WithMetadata(Model(), "ort_ed.note", "a" + escape + "\xc2\x9b"));
  const CommandResult shown = RunOrtEd({"inspect", folder.File("m.onnx")});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("]0;title"));
  EXPECT_THAT(shown.out + shown.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown.out, Not(HasSubstr("\xc2\x9b")));
  const CommandResult refused = RunOrtEd({"inspect", folder.File("none" + escape)});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, Not(HasSubstr("\x1b")));
}

TEST(PlainText, JsonIsUtf8WhateverTheNamesAre) {
  const TempDir folder;
  const std::string model = folder.File("m\xff.onnx"), data = folder.File("d\xfe.csv");
  WriteBytes(model, Model());
  WriteBytes(data, "0,1,0\n1,1,1\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"inspect", model, "--json"},
        std::vector<std::string>{"score", model, data, "-o", folder.File("s\xfd.csv"), "--json"},
        std::vector<std::string>{"check", model, "--json"},
        std::vector<std::string>{"eval", model, "--data", data, "--json"}}) {
    const CommandResult result = RunOrtEd(words);
    EXPECT_TRUE(nlohmann::json::accept(result.out)) << words[0] << ": " << result.out << result.err;
  }
}

}  // namespace
}  // namespace ort_ed
