#include "tools/cli/launch/processes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "ort_ed/device.h"
#include "runtime/simd/instruction_set.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/text.h"
#include "runtime/support/version.h"
#include "tools/cli/command.h"
#include "tools/cli/interrupt.h"
#include "tools/jobs/processes.h"
#include "tools/mpi/mpi_module.h"

namespace ort_ed {
namespace {

constexpr int kFailed = 1;

LaunchedProcesses* launched = nullptr;

std::mutex resumption_mutex;
std::string resumption;

// Of processes that do not talk: their last error, for the case that nobody else has one.
class Silence final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::string last_error() {
    const std::lock_guard lock(mutex_);
    return last_error_;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (message.level >= spdlog::level::err)
      last_error_.assign(message.payload.begin(), message.payload.end());
  }
  void flush_() override {}

  std::string last_error_;
};

std::shared_ptr<Silence> silence;

// How many processes the launcher says there are; 0: there is no launcher.
int LaunchedSize() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const value = std::getenv(name)) return std::max(1, std::atoi(value));
  for (const char* name : {"PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name) != nullptr) return 2;
  return 0;
}

bool IsForMany(const std::string& command) {
  static constexpr std::array kForMany = {"train", "logz", "sample", "score", "eval"};
  return std::ranges::find(kForMany, command) != kForMany.end();
}

StartMpi FindModule() {
  constexpr char kName[] = "libort_ed_mpi.so";
  std::error_code error;
  const std::filesystem::path beside =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / kName;
  // Open MPI's own modules look for its symbols among those that all can see.
  void* module = dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL);
  std::string why = module == nullptr ? dlerror() : "";
  if (module == nullptr) module = dlopen(kName, RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr)
    throw UsageError(fmt::format(
        "several processes were launched, but this program cannot talk to the others: {}. Build it "
        "where MPI is installed (tools/setup.sh --mpi), or start it without a launcher",
        why));
  return reinterpret_cast<StartMpi>(dlsym(module, kStartMpi));
}

// Where the launcher has not given each process cores of its own, those of the host are shared out: threads
// of all processes on all cores would be in each other's way.
void TakeCores() {
  const int here = launched->local_size();
  cpu_set_t allowed;
  if (here == 1 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int cores = CPU_COUNT(&allowed);
  if (cores * here <= sysconf(_SC_NPROCESSORS_ONLN)) return;
  const int rank = launched->local_rank();
  const int first = rank * cores / here, end = std::max(first + 1, (rank + 1) * cores / here);
  cpu_set_t own;
  CPU_ZERO(&own);
  for (int cpu = 0, number = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && number++ >= first && number <= end) CPU_SET(cpu, &own);
  sched_setaffinity(0, sizeof own, &own);
}

// Results, logs and files are those of the first process.
void BeSilent() {
  silence = std::make_shared<Silence>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("ort-ed", silence));
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  WriteNoFiles();
}

std::string NameOf(int rank) { return fmt::format("process {} on {}", rank, launched->host(rank)); }

std::string WithResumption(const std::string& message) {
  const std::lock_guard lock(resumption_mutex);
  const bool told = resumption.empty() || message.find("go on with") != std::string::npos;
  return told ? message : fmt::format("{}. Go on with: {}", message, resumption);
}

void Tell(const std::string& message) {
  const std::string text = "error: " + message + "\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) {
    // Nobody listens.
  }
}

// Another process is gone: of those that are left the first one tells it.
[[noreturn]] void EndWithout(int rank, const char* what) {
  static std::atomic<bool> ending = false;
  if (ending.exchange(true)) std::this_thread::sleep_for(std::chrono::hours(1));
  RemoveUnfinished();
  const int speaker = rank == 0 ? 1 : 0;
  if (launched->rank() == speaker) {
    Tell(WithResumption(fmt::format("{} {}; the job ends, no file is half written", NameOf(rank), what)));
    launched->Abort(kFailed);
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  _exit(kFailed);
}

[[noreturn]] void AwaitEnd() {
  std::this_thread::sleep_for(std::chrono::seconds(30));
  _exit(kFailed);
}

// A launcher ends all when one has died, and asks first. The thread that watches hears meanwhile where one
// ends the job on purpose.
void OnSignal() {
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  if (launched->IsEnding()) AwaitEnd();
  if (const int dead = launched->FindDead(); dead >= 0) EndWithout(dead, "has died");
}

void RequireSameProgram(const std::string& words) {
  RequireAgreement(*launched, "version", kVersion);
  RequireAgreement(*launched, "ONNX Runtime", OnnxRuntimeVersion());
  RequireAgreement(*launched, "instruction set", InstructionSetName(UsableInstructions()));
  RequireAgreement(*launched, "command line", "'" + words + "'");
}

}  // namespace

void JoinProcesses(const std::string& command, const std::string& words) {
  const int size = LaunchedSize();
  if (size == 0) return;
  if (!IsForMany(command)) {
    if (size == 1 || command.starts_with("-")) return;
    throw UsageError(fmt::format("`{}` is done by one process; start it without a launcher", command));
  }
  const std::vector<std::string> all = Split(words, ' ');
  if (size > 1 && std::ranges::find(all, "-") != all.end())
    throw UsageError(
        "the standard input and output belong to one of the processes; name a file instead of -");
  launched = FindModule()();
  if (launched->rank() != 0) BeSilent();
  TakeCores();
  RequireSameProgram(words);
  launched->Watch(EndWithout);
  if (launched->size() > 1) OnFirstSignal(OnSignal, /*quiet=*/launched->rank() != 0);
}

int LocalRank() { return launched != nullptr ? launched->local_rank() : 0; }

Collective& Processes() { return launched != nullptr ? *launched : Alone(); }

void SetResumption(const std::string& command) {
  const std::lock_guard lock(resumption_mutex);
  resumption = launched == nullptr || launched->size() == 1
                   ? ""
                   : fmt::format("mpirun -np {} {}", launched->size(), command);
}

std::string DescribeFailure(const std::string& message, bool of_this) {
  const bool named = of_this && launched != nullptr && launched->size() > 1 && launched->rank() == 0;
  return WithResumption(named ? fmt::format("{}: {}", NameOf(0), message) : message);
}

void LeaveProcesses(int exit_code) {
  if (launched == nullptr) return;
  if (exit_code == 0) return launched->Finish();
  RemoveUnfinished();
  if (launched->rank() != 0) {
    // The first process, if it fails as well, ends all in the meantime.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (launched->IsEnding()) AwaitEnd();
    Tell(WithResumption(fmt::format("{}: {}", NameOf(launched->rank()), silence->last_error())));
  }
  launched->Abort(exit_code);
}

}  // namespace ort_ed
