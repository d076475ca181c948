// Commands end soon after a signal, whatever they wait for, and clean up; what files call things is shown
// without control characters.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::seconds kSoon(3);  // one, of a machine that does nothing else

std::string Model() {
  return ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
      g (float[N, 3] x) => (float[N] energy) <float[3] w = {1, 2, 3}, int64[1] axes = {1}>
      { p = Mul(x, w) energy = ReduceSum <keepdims = 0> (p, axes) })");
}

class Signals : public ::testing::Test {
 protected:
  Signals() {
    WriteBytes(folder_.File("m.onnx"), Model());
    WriteBytes(folder_.File("rows.csv"), "0,1,0\n1,1,0\n");
    for (const char* name : {"pipe", "pipe.onnx"}) mkfifo(folder_.File(name).c_str(), 0600);
  }

  TempDir folder_;
};

// The names of files stand for those in the folder.
std::vector<std::string> InFolder(const TempDir& folder, std::vector<std::string> words) {
  for (std::string& word : words)
    if (word.find('.') != std::string::npos || word == "pipe") word = folder.File(word);
  return words;
}

// Every place in which a command reads a file.
TEST_F(Signals, EndCommandsThatWaitForAPipe) {
  const std::vector<std::vector<std::string>> commands = {
      {"check", "pipe"},
      {"compare", "m.onnx", "m.onnx", "--data", "pipe"},
      {"compare", "m.onnx", "pipe", "--data", "rows.csv"},
      {"eval", "m.onnx", "--data", "pipe", "--png", "p.png"},
      {"explain", "m.onnx", "pipe", "-o", "p.png"},
      {"export", "pipe", "-o", "e.onnx"},
      {"impute", "m.onnx", "pipe", "-o", "out.csv"},
      {"inspect", "pipe"},
      {"logz", "pipe", "--write"},
      {"logz", "m.onnx", "--estimator", "ais", "--temperatures", "5", "--state", "pipe"},
      {"logz", "m.onnx", "--estimator", "raise", "--temperatures", "5", "--data", "pipe"},
      {"new", "mlp", "-D", "3", "--base", "pipe", "-o", "n.onnx"},
      {"plot", "energies", "m.onnx", "--data", "pipe", "-o", "p.png"},
      {"report", "m.onnx", "--data", "pipe", "-o", "r.html"},
      {"sample", "m.onnx", "-n", "3", "--clamp", "pipe", "-o", "out.csv"},
      {"sample", "m.onnx", "-n", "3", "--init", "pipe", "--sampler", "gibbs", "-o", "out.csv"},
      {"score", "m.onnx", "pipe", "-o", "out.csv"},
      {"score", "m.onnx", "rows.csv", "--anomaly", "--reference", "pipe", "-o", "out.csv"},
      {"train", "--config", "pipe", "-o", "run.d"},
      {"train", "--data", "rows.csv", "--model", "pipe.onnx", "-o", "run.d"},
      {"train", "--data", "rows.csv", "--validation", "pipe", "-o", "run.d"},
      {"train", "--data", "rows.csv", "--variables", "pipe", "-o", "run.d"},
  };
  for (const int signal : {SIGINT, SIGTERM}) {
    std::vector<std::unique_ptr<CommandProcess>> processes;
    for (const auto& words : commands)
      processes.push_back(std::make_unique<CommandProcess>(InFolder(folder_, words)));
    for (const auto& process : processes) process->WaitUntilItListens();
    usleep(2000000);  // until they wait
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < commands.size(); ++i) {
      ASSERT_TRUE(processes[i]->Running()) << commands[i][0] << processes[i]->Wait().err;
      processes[i]->Signal(signal);
    }
    for (size_t i = 0; i < commands.size(); ++i) {
      const std::string name = testing::PrintToString(commands[i]);
      const CommandResult result = processes[i]->Wait();
      EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon) << name;
      EXPECT_EQ(result.exit_code, 128 + signal) << name;
      EXPECT_THAT(result.err, HasSubstr("interrupted")) << name;
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 4) << "files are left";
  }
}

// Starts `ort-ed` with its standard output in `output`.
pid_t StartInto(int output, const std::vector<std::string>& words) {
  const pid_t child = fork();
  if (child != 0) return child;
  dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments = {const_cast<char*>(ORT_ED_COMMAND)};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

TEST_F(Signals, EndCommandsWhoseOutputNobodyTakes) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"sample", "m.onnx", "-n", "200000", "--steps", "1", "-o", "-"},
        std::vector<std::string>{"sample", "m.onnx", "-n", "200000", "--sampler", "gibbs", "--steps", "1",
                                 "-o", "-"},
        std::vector<std::string>{"data", "ising", "--shape", "3x3", "-n", "200000", "--steps", "1", "-o",
                                 "-"}}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = StartInto(ends[1], InFolder(folder_, words));
    pollfd written = {.fd = ends[0], .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&written, 1, -1), 1);
    usleep(2000000);  // until the pipe is full
    ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << words[0];
    const auto start = std::chrono::steady_clock::now();
    kill(child, SIGINT);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0 && std::chrono::steady_clock::now() - start < 3 * kSoon)
      usleep(10000);
    EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon) << words[0];
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT) << words[0];
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(ends[0]);
    close(ends[1]);
  }
}

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

// What `ort-ed` with `words` shows on a terminal.
std::string OnATerminal(const std::vector<std::string>& words) {
  int terminal = -1, inside = -1;
  EXPECT_EQ(openpty(&terminal, &inside, nullptr, nullptr, nullptr), 0);
  const pid_t child = StartInto(inside, words);
  close(inside);
  std::string shown;
  char part[1024];
  for (ssize_t got; (got = read(terminal, part, sizeof(part))) > 0;)
    shown.append(part, static_cast<size_t>(got));
  waitpid(child, nullptr, 0);
  close(terminal);
  return shown;
}

TEST(PlainText, SoAreCellsOnATerminal) {
  const TempDir folder;
  WriteBytes(folder.File("t.csv"), "id,a,b\n\x1b]0;title\x07,0,1\n\xc2\x9bx,1,0\n");
  ASSERT_EQ(RunOrtEd({"train", "--data", folder.File("t.csv"), "--drop", "id", "--steps", "1", "-o",
                      folder.File("run")})
                .exit_code,
            0);
  const std::vector<std::string> words = {"score", folder.File("run/model.onnx"), folder.File("t.csv"),
                                          "--id", "id"};
  EXPECT_THAT(RunOrtEd(words).out, HasSubstr("\x1b]0;title\x07,"));  // for programs they stay as they are
  const std::string shown = OnATerminal(words);
  EXPECT_THAT(shown, HasSubstr("?]0;title?,"));
  EXPECT_THAT(shown, Not(HasSubstr("\x1b]")));
  EXPECT_THAT(shown, Not(HasSubstr("\xc2\x9b")));
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
