// A process that dies, stands still, or has other files than the others ends the whole job within seconds,
// with one message; what was trained goes on from there, bit for bit.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <unistd.h>

#include "tests/processes/processes_test.h"

namespace ort_ed {
namespace {

using Words = std::vector<std::string>;

std::string ReadProcFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Processes of the command below the launcher, by their number.
std::vector<pid_t> FindProcesses(const std::string& argument) {
  std::map<int, pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string words = ReadProcFile(entry.path() / "cmdline"),
                      values = ReadProcFile(entry.path() / "environ");
    if (!words.starts_with(ORT_ED_COMMAND) || words.find(argument) == std::string::npos) continue;
    for (const std::string key : {"OMPI_COMM_WORLD_RANK=", "PMI_RANK="})
      if (const size_t at = values.find(key); at != std::string::npos)
        found[std::atoi(values.c_str() + at + key.size())] = std::atoi(name.c_str());
  }
  std::vector<pid_t> processes;
  for (const auto& [rank, process] : found) processes.push_back(process);
  return processes;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class Faults : public ProcessesTest {
 protected:
  static constexpr int kProcesses = 3;

  Words Long(const std::string& run) const {
    return Small(run, {"--method", "pcd", "--shards", "4", "--steps", "900", "--checkpoint-every", "20",
                       "--log-every", "10", "--validate-every", "100", "--batch-size", "16"});
  }

  int64_t StepsTaken(const std::string& run) const {
    std::error_code none;
    int64_t most = -1;
    for (const auto& entry : std::filesystem::directory_iterator(Path(run + "/checkpoints"), none)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("step-") && name.ends_with(".ckpt"))
        most = std::max(most, std::stol(name.substr(5)));
    }
    return most;
  }

  // Starts `words`, sends a signal to process `rank` when the run has come to `step`, and waits for the end.
  CommandResult Disturb(const Words& words, const std::string& run, int64_t step, size_t rank, int signal) {
    CommandProcess job(words, "", Launcher(kProcesses));
    while (job.Running() && StepsTaken(run) < step) usleep(2000);
    const std::vector<pid_t> processes = FindProcesses(dir_.path());
    EXPECT_EQ(processes.size(), size_t{kProcesses}) << job.Output();
    if (rank < processes.size()) kill(processes[rank], signal);
    const auto start = std::chrono::steady_clock::now();
    CommandResult result = job.Wait();
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (int i = 0; i < 50 && !FindProcesses(dir_.path()).empty(); ++i) usleep(100000);
    EXPECT_TRUE(FindProcesses(dir_.path()).empty());
    return result;
  }

  void ExpectOneMessage(const CommandResult& result, size_t rank, const std::string& what,
                        const std::string& run) {
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(Count(result.err, "error: "), 1u) << result.err;
    EXPECT_THAT(result.err,
                testing::ContainsRegex("error: process " + std::to_string(rank) + " on .* " + what));
    EXPECT_THAT(result.err,
                testing::HasSubstr("Go on with: mpirun -np 3 ort-ed train --resume " + Path(run)));
  }

  double seconds_ = 0;
};

TEST_F(Faults, KilledProcessesCostNoBit) {
  const char* const wanted = std::getenv("ORT_ED_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 4;
  RunOn(1, Long("whole"));
  std::mt19937 random(11);
  Words words = Long("run");
  int killed = 0;
  for (; killed < kills; ++killed) {
    const int64_t step = StepsTaken("run") + 1 + random() % 100;
    if (step >= 850) {  // from the beginning again
      RunOn(2, {"train", "--resume", Path("run")});
      ASSERT_TRUE(SameFiles(Path("run/model.onnx"), Path("whole/model.onnx")));
      std::filesystem::remove_all(Path("run"));
      words = Long("run");
      continue;
    }
    const size_t rank = random() % kProcesses;
    const CommandResult result = Disturb(words, "run", step, rank, SIGKILL);
    if (result.exit_code == 0) break;  // it was faster
    ExpectOneMessage(result, rank, "has died", "run");
    EXPECT_LT(seconds_, 10);
    words = {"train", "--resume", Path("run")};
  }
  EXPECT_GT(killed, 0);
  RunOn(1 + static_cast<int>(random() % 4), {"train", "--resume", Path("run")});
  EXPECT_TRUE(SameFiles(Path("run/model.onnx"), Path("whole/model.onnx")));
  EXPECT_TRUE(SameFiles(Path("run/best.onnx"), Path("whole/best.onnx")));
}

TEST_F(Faults, AProcessThatStandsStillIsMissed) {
  for (const size_t rank : {0, 2}) {
    const std::string run = "run" + std::to_string(rank);
    const CommandResult result = Disturb(Long(run), run, 40, rank, SIGSTOP);
    ExpectOneMessage(result, rank, "does not answer", run);
    EXPECT_LT(seconds_, 30);
  }
}

TEST_F(Faults, AllStopWhereOneIsAskedTo) {
  const CommandResult result = Disturb(Long("run"), "run", 40, 1, SIGTERM);
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, testing::HasSubstr("go on with"));
  RunOn(1, Long("whole"));
  RunOn(2, {"train", "--resume", Path("run")});
  EXPECT_TRUE(SameFiles(Path("run/model.onnx"), Path("whole/model.onnx")));
}

// The first process may write files of up to 16 MiB, less than a checkpoint has: as on a disk that is full.
TEST_F(Faults, AFullDiskEndsAll) {
  std::string words;
  for (const std::string& word :
       Small("run", {"--hidden", "1200,1200", "--shards", "2", "--checkpoint-every", "1"}))
    words += " '" + word + "'";
  const CommandResult result =
      CommandProcess({"--"}, "",
                     {ORT_ED_MPIRUN, "-n", "1", "sh", "-c", "ulimit -f 32768; exec " ORT_ED_COMMAND + words,
                      "--", ":", "-n", "1", "sh", "-c", "exec " ORT_ED_COMMAND + words})
          .Wait();
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(Count(result.err, "error: "), 1u) << result.err;
  EXPECT_THAT(result.err, testing::ContainsRegex("error: process 0 on .*cannot write '.*step-0.ckpt'"));
  for (const auto& entry : std::filesystem::directory_iterator(Path("run/checkpoints")))
    ADD_FAILURE() << entry;
}

// Each process has a folder of its own, as on hosts that share none.
class OtherFiles : public ProcessesTest {
 protected:
  void SetUp() override {
    ProcessesTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(Train("run", {"--steps", "5"}).exit_code, 0);
    for (const char* folder : {"a", "b"}) {
      std::filesystem::create_directory(Path(folder));
      std::filesystem::copy_file(Path("run/model.onnx"), Path(folder) + "/model.onnx");
      std::filesystem::copy_file(Path("rows.csv"), Path(folder) + "/rows.csv");
    }
  }

  CommandResult RunInFolders(const std::string& words) const {
    const auto in = [&](const std::string& folder) {
      return Words{"-n", "1", "sh", "-c", "cd " + Path(folder) + " && exec " ORT_ED_COMMAND " " + words};
    };
    Words launcher = {ORT_ED_MPIRUN};
    for (const std::string& word : in("a")) launcher.push_back(word);
    launcher.push_back(":");
    for (const std::string& word : in("b")) launcher.push_back(word);
    launcher.push_back("--");
    return CommandProcess({}, "", launcher).Wait();
  }
};

TEST_F(OtherFiles, AreTheSame) {
  const CommandResult result = RunInFolders("score model.onnx rows.csv");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, RunOrtEd({"score", Path("run/model.onnx"), Path("rows.csv")}).out);
}

TEST_F(OtherFiles, AreToldApart) {
  WriteBytes(Path("b/rows.csv"), CorrelatedRows(499));
  for (const std::string words : {"score model.onnx rows.csv", "eval model.onnx --data rows.csv --samples 0",
                                  "train --data rows.csv --steps 3 -o run"}) {
    const CommandResult result = RunInFolders(words);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(Count(result.err, "error: "), 1u) << result.err;
    EXPECT_THAT(result.err, testing::ContainsRegex("do not have the same .*: process 1 on "));
  }
  EXPECT_FALSE(std::filesystem::exists(Path("a/run")));
}

TEST_F(OtherFiles, AreMissing) {
  std::filesystem::remove(Path("b/rows.csv"));
  const CommandResult result = RunInFolders("score model.onnx rows.csv");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(Count(result.err, "error: "), 1u) << result.err;
  EXPECT_THAT(result.err, testing::ContainsRegex("error: process 1 on .*rows.csv"));
}

}  // namespace
}  // namespace ort_ed
