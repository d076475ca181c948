// Every call that changes the disk fails, once by an error that goes away and once on a disk that is full
// from then on; allocations all over each command fail, and all that go beyond a limit. Whatever fails, a
// command ends with one clear message and exit code 1, or does without; no file is half-written or left over,
// no input changed, and a training goes on bit for bit.
//
// preloaded_faults.cc makes the faults. Allocations count from the beginning of main() on: what libraries ask
// for while they are loaded is beyond the command. So is what ONNX Runtime does where it asks itself and gets
// none: most of its functions say so, some (that clean up what was half made) crash. A crash is let pass
// there and only there, and even then all that holds for files must hold.
//
// So many allocations of each command fail; more by ORT_ED_FAULTS=5000.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Files = std::map<std::string, std::string>;  // bytes by path

constexpr int kUsualAllocations = 40;

size_t AllocationsOfEach() {
  const char* given = std::getenv("ORT_ED_FAULTS");
  return static_cast<size_t>(given != nullptr ? std::atoi(given) : kUsualAllocations);
}

// Set for the commands that are started while this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

struct Fault {
  std::string kind;
  int64_t at = 0;
  std::string what;  // the call that fails

  bool of_disk() const { return kind.starts_with("disk"); }
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.kind << " at " << fault.at << " (" << fault.what << ")";
}

// The calls that counted go into the file `trace`, which is new.
CommandResult RunWith(const Fault& fault, const Words& words, const std::string& trace) {
  fs::remove(trace);
  const Variable library("LD_PRELOAD", ORT_ED_PRELOADED_FAULTS);
  const Variable kind("ORT_ED_FAULT", fault.kind);
  const Variable at("ORT_ED_FAULT_AT", std::to_string(fault.at));
  const Variable file("ORT_ED_FAULT_TRACE", trace);
  return RunOrtEd(words);
}

Files ReadFiles(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder)] = ReadBytes(entry.path());
  return files;
}

// At most `count` of them, from all over.
std::vector<Fault> Spread(const std::vector<Fault>& faults, size_t count) {
  if (faults.size() <= count) return faults;
  std::vector<Fault> some;
  for (size_t i = 0; i < count; ++i) some.push_back(faults[i * faults.size() / count]);
  return some;
}

int CountErrors(const std::string& text) {
  std::istringstream lines(text);
  int errors = 0;
  for (std::string line; std::getline(lines, line);) errors += line.starts_with("error: ") ? 1 : 0;
  return errors;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Faults : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef ORT_ED_SANITIZED
    GTEST_SKIP() << "sanitizers bring a malloc of their own, before which nothing can be preloaded";
#endif
    fs::create_directory(work_);
    Make({"data", "ising", "--shape", "2x3", "-n", "40", "--seed", "1", "-o", File("rows.csv")});
    Make({"new", "mlp", "-D", "6", "--hidden", "8", "--seed", "3", "-o", File("m.onnx")});
    Make({"new", "ising", "-D", "6", "--seed", "3", "-o", File("ising.onnx")});
    std::string holes = ReadBytes(File("rows.csv"));
    for (size_t line = 0; line < holes.size(); line = holes.find('\n', line) + 1) holes[line] = '?';
    WriteBytes(File("holes.csv"), holes);
  }

  std::string File(const std::string& name) const { return work_ / name; }

  static void Make(const Words& words) {
    const CommandResult result = RunOrtEd(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  // Puts the folder back to what it was.
  void Restore(const Files& files) const {
    if (ReadFiles(work_) == files) return;
    fs::remove_all(work_);
    for (const auto& [name, bytes] : files) {
      fs::create_directories((work_ / name).parent_path());
      WriteBytes(File(name), bytes);
    }
  }

  // The calls of a command that nothing disturbs, in which faults of that kind can be. Of those that print a
  // line or a number on the standard output some stand for all.
  std::vector<Fault> Trace(const std::string& kind, const Words& words) const {
    const CommandResult result = RunWith({kind, 0, ""}, words, trace_);
    EXPECT_EQ(result.exit_code, 0) << words[0] << ": " << result.err;
    std::vector<Fault> faults;
    std::istringstream lines(ReadBytes(trace_));
    for (std::string line; std::getline(lines, line);) {
      const size_t blank = line.find(' ');
      faults.push_back({kind, std::atoll(line.c_str()), line.substr(blank + 1)});
    }
    EXPECT_FALSE(faults.empty()) << words[0] << " does nothing that can fail";
    const auto prints = [](const Fault& fault) { return Contains(fault.what, " (deleted)"); };
    const auto printing = std::ranges::stable_partition(faults, std::not_fn(prints));
    const std::vector<Fault> some = Spread({printing.begin(), printing.end()}, 6);
    faults.erase(printing.begin(), printing.end());
    faults.insert(faults.end(), some.begin(), some.end());
    return faults;
  }

  std::vector<Fault> FaultsOf(const Words& words, const Files& before) const {
    std::vector<Fault> all;
    const auto add = [&](const std::string& kind, size_t most) {
      for (const Fault& fault : Spread(Trace(kind, words), most)) all.push_back(fault);
      Restore(before);
    };
    add("disk-full", SIZE_MAX);
    add("disk-error", SIZE_MAX);
    add("allocation", AllocationsOfEach());
    add("memory-limit", AllocationsOfEach() / 4);
    return all;
  }

  // Whether ONNX Runtime crashed after it got no memory, in the command that ran last.
  bool CrashedElsewhere(const CommandResult& result, const Fault& fault) const {
    return result.exit_code > 128 && !fault.of_disk() && Contains(ReadBytes(trace_), " libonnxruntime.so");
  }

  void ExpectClearEnd(const CommandResult& result, const Fault& fault) {
    if (CrashedElsewhere(result, fault)) {
      ++crashes_elsewhere_;
      return;
    }
    ASSERT_TRUE(result.exit_code == 0 || result.exit_code == 1)
        << fault << " ended with " << result.exit_code << ": " << result.err;
    if (result.exit_code == 0) return;
    EXPECT_EQ(CountErrors(result.err), 1) << fault << ": " << result.err;
    if (!fault.of_disk()) {
      EXPECT_TRUE(Contains(result.err, "memory")) << fault << ": " << result.err;
    } else {
      EXPECT_TRUE(Contains(result.err, File("")) || Contains(result.err, "standard output"))
          << fault << ": " << result.err;
      EXPECT_FALSE(Contains(result.err, "memory")) << fault << ": " << result.err;
    }
  }

  // What a command that crashed leaves, the next one removes.
  bool MayStay(const std::string& name, const CommandResult& result) const {
    return name == kept_ || (result.exit_code > 128 && Contains(name, ".ort-ed-tmp-"));
  }

  // Every file is what it was or what it shall be.
  void ExpectWholeFiles(const Files& before, const Files& whole, const CommandResult& result,
                        const Fault& fault) const {
    const Files after = ReadFiles(work_);
    const auto is_of = [](const Files& files, const auto& file) {
      const auto found = files.find(file.first);
      return found != files.end() && found->second == file.second;
    };
    for (const auto& file : after)
      EXPECT_TRUE(is_of(before, file) || is_of(whole, file) || MayStay(file.first, result))
          << fault << " spoilt or left " << file.first;
    for (const auto& [name, bytes] : before)
      EXPECT_TRUE(after.contains(name) || !whole.contains(name)) << fault << " lost " << name;
    EXPECT_TRUE(result.exit_code != 0 || after == whole) << fault << " was not told";
  }

  // Runs the command with each fault; what its output is without one must not hang on the clock.
  void Sweep(const Words& words) {
    const Files before = ReadFiles(work_);
    const CommandResult usual = RunOrtEd(words);
    ASSERT_EQ(usual.exit_code, 0) << usual.err;
    const Files whole = ReadFiles(work_);
    Restore(before);
    const bool same_output = RunOrtEd(words).out == usual.out;
    Restore(before);
    for (const Fault& fault : FaultsOf(words, before)) {
      const CommandResult result = RunWith(fault, words, trace_);
      ExpectClearEnd(result, fault);
      ExpectWholeFiles(before, whole, result, fault);
      EXPECT_TRUE(result.exit_code != 0 || !same_output || result.out == usual.out)
          << fault << " changed the output";
      if (!kept_.empty() && fs::exists(File(kept_))) {
        EXPECT_EQ(RunOrtEd(words).out, usual.out);
      }
      Count(result);
      Restore(before);
    }
    Record();
  }

  void Count(const CommandResult& result) {
    ++faults_;
    failed_ += result.exit_code == 0 ? 0 : 1;
  }

  void Record() const {
    EXPECT_GT(failed_, 0);
    RecordProperty("faults", faults_);
    RecordProperty("failed", failed_);
    RecordProperty("crashes_elsewhere", crashes_elsewhere_);
  }

  const TempDir folder_;
  const fs::path work_ = folder_.path() / "work";
  const std::string trace_ = folder_.File("trace");
  std::string kept_;  // a file that a command that failed may leave, to go on from
  int faults_ = 0, failed_ = 0, crashes_elsewhere_ = 0;
};

TEST_F(Faults, New) {
  Sweep({"new", "mlp", "-D", "6", "--hidden", "8", "--seed", "3", "-o", File("n.onnx")});
}

TEST_F(Faults, NewInTheOldPlace) { Sweep({"new", "rbm", "-D", "6", "--hidden", "4", "-o", File("m.onnx")}); }

TEST_F(Faults, Data) {
  Sweep({"data", "pinwheel", "-n", "30", "--planar", File("points.npy"), "-o", File("d.bits.npy")});
}

TEST_F(Faults, DataAsText) { Sweep({"data", "moons", "-n", "30", "-o", "-"}); }

TEST_F(Faults, Inspect) { Sweep({"inspect", File("m.onnx")}); }

TEST_F(Faults, Check) { Sweep({"check", File("m.onnx")}); }

TEST_F(Faults, Export) { Sweep({"export", File("m.onnx"), "--with-gradient", "-o", File("e.onnx")}); }

TEST_F(Faults, Score) {
  Sweep({"score", File("m.onnx"), File("rows.csv"), "--threads", "2", "-o", File("s.csv")});
}

TEST_F(Faults, Sample) {
  Sweep({"sample", File("m.onnx"), "-n", "6", "--steps", "4", "--sampler", "gwg", "--threads", "1", "--trace",
         File("trace.npy"), "-o", File("samples.npy")});
}

TEST_F(Faults, LogZWrite) { Sweep({"logz", File("m.onnx"), "--threads", "1", "--write"}); }

TEST_F(Faults, LogZState) {
  kept_ = "state";
  Sweep({"logz", File("m.onnx"), "--estimator", "ais", "--temperatures", "10", "--chains", "5", "--threads",
         "1", "--state", File("state")});
}

TEST_F(Faults, Explain) {
  Sweep({"explain", File("m.onnx"), File("rows.csv"), "--threads", "1", "--conditionals", File("c.npy"), "-o",
         File("x.png")});
}

TEST_F(Faults, Impute) {
  Sweep(
      {"impute", File("m.onnx"), File("holes.csv"), "--steps", "10", "--threads", "1", "-o", File("i.csv")});
}

TEST_F(Faults, Eval) {
  Sweep({"eval", File("m.onnx"), "--data", File("rows.csv"), "--samples", "10", "--steps", "3", "--threads",
         "1", "--png", File("e.png")});
}

TEST_F(Faults, Plot) {
  Sweep({"plot", "energies", File("m.onnx"), "--data", File("rows.csv"), "-o", File("p.png")});
}

TEST_F(Faults, Compare) {
  Sweep({"compare", File("m.onnx"), File("ising.onnx"), "--data", File("rows.csv"), "--threads", "1", "-o",
         File("c.png")});
}

// A training, whose folder may have a part of its files at any time.
class TrainingFaults : public Faults {
 protected:
  Words Training() const {
    return {"train",
            "--data",
            File("rows.csv"),
            "--model",
            "ising",
            "--method",
            "bernoulli",
            "--steps",
            "6",
            "--batch-size",
            "8",
            "--threads",
            "1",
            "--seed",
            "5",
            "--log-every",
            "3",
            "--checkpoint-every",
            "3",
            "-o",
            File("run")};
  }
  Words Resuming() const { return {"train", "--resume", File("run")}; }

  bool Has(const std::string& name) const { return fs::exists(work_ / name); }

  // What does not hang on the clock.
  Files Results() const {
    Files results;
    for (const char* name : {"model.onnx", "best.onnx", "checkpoints/step-6.ckpt"})
      results[name] = ReadBytes(File(std::string("run/") + name));
    return results;
  }

  // All that says how training goes on, times aside.
  Files State() const {
    Files state = ReadFiles(work_);
    for (auto& [name, bytes] : state) {
      if (name.ends_with(".jsonl")) std::erase_if(bytes, [](char c) { return c != '\n'; });
      if (Contains(name, "events.out")) bytes = std::to_string(bytes.size());
    }
    return state;
  }

  // Goes on without a fault, where there is something to go on from.
  void ExpectToGoOn(const Files& results, const Fault& fault) {
    if (!seen_.insert(State()).second) return;
    const CommandResult result = RunOrtEd(Has("run/config.toml") ? Resuming() : Training());
    ASSERT_EQ(result.exit_code, 0) << "after " << fault << ": " << result.err;
    EXPECT_TRUE(Results() == results) << "after " << fault;
    for (const auto& [name, bytes] : ReadFiles(work_))
      EXPECT_FALSE(Contains(name, ".ort-ed-tmp-")) << name << " stays after " << fault;
  }

  void ExpectNothingLeft(const Files& before, const CommandResult& result, const Fault& fault) const {
    const Files after = ReadFiles(work_);
    for (const auto& [name, bytes] : after)
      EXPECT_TRUE(!Contains(name, ".ort-ed-tmp-") || MayStay(name, result)) << fault << " left " << name;
    for (const auto& [name, bytes] : before) {
      const bool same = after.contains(name) && after.at(name) == bytes;
      EXPECT_TRUE(same || name.starts_with("run/")) << fault << " spoilt " << name;
    }
  }

  void SweepTraining(const Words& words, const Files& results) {
    const Files before = ReadFiles(work_);
    for (const Fault& fault : FaultsOf(words, before)) {
      const CommandResult result = RunWith(fault, words, trace_);
      ExpectClearEnd(result, fault);
      ExpectNothingLeft(before, result, fault);
      if (result.exit_code == 0) {
        EXPECT_TRUE(Results() == results) << fault << " was not told";
      } else {
        ExpectToGoOn(results, fault);
      }
      Count(result);
      Restore(before);
    }
    Record();
  }

  std::set<Files> seen_;  // from where a training has gone on
};

TEST_F(TrainingFaults, Train) {
  const Files before = ReadFiles(work_);
  Make(Training());
  const Files results = Results();
  Restore(before);
  SweepTraining(Training(), results);
}

TEST_F(TrainingFaults, Resume) {
  Make(Training());
  const Files results = Results();
  for (const char* name : {"checkpoints/step-6.ckpt", "model.onnx"})
    fs::remove(File(std::string("run/") + name));
  SweepTraining(Resuming(), results);
}

}  // namespace
}  // namespace ort_ed
