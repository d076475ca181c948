#include "tools/mpi/mpi_module.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostBytes = size_t{1} << 30;  // of one message: MPI counts in int

[[noreturn]] void Fail(const char* what) {
  throw Error(ErrorCode::kRuntime, std::string("MPI could not ") + what);
}

void Check(int code, const char* what) {
  if (code != MPI_SUCCESS) Fail(what);
}

// Where there are more processes than cores, or threads that could work, whoever waits steps aside: at first
// at once ready, for steps of microseconds, then less and less.
void WaitFor(std::vector<MPI_Request>& requests) {
  constexpr int kReady = 1000, kStepAside = 20000;
  for (int tries = 0;; ++tries) {
    int done = 0;
    Check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
          "finish an exchange");
    if (done != 0) return;
    if (tries > kStepAside) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    } else if (tries > kReady) {
      sched_yield();
    }
  }
}

void WaitFor(MPI_Request request) {
  std::vector<MPI_Request> one = {request};
  WaitFor(one);
}

// Calls part(offset, bytes) for parts that MPI can count.
template <typename Part>
void ForEachPart(size_t bytes, const Part& part) {
  for (size_t first = 0; first < bytes; first += kMostBytes)
    part(first, static_cast<int>(std::min(kMostBytes, bytes - first)));
}

// Z: it has ended, and nobody has asked how.
bool HasEnded(pid_t process) {
  if (kill(process, 0) != 0) return errno == ESRCH;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(process));
  std::FILE* const file = std::fopen(path, "r");
  if (file == nullptr) return false;
  char text[512] = {};
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* const name_end = size > 0 ? std::strrchr(text, ')') : nullptr;
  return name_end != nullptr && name_end[1] != '\0' && (name_end[2] == 'Z' || name_end[2] == 'X');
}

class MpiProcesses final : public LaunchedProcesses {
 public:
  MpiProcesses() {
    int provided = 0;
    Check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "start");
    threads_ = provided == MPI_THREAD_MULTIPLE;
    Check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "tell the rank");
    Check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "tell how many processes there are");
    Check(MPI_Comm_dup(MPI_COMM_WORLD, &watch_), "make a communicator");
    FindHosts();
  }

  ~MpiProcesses() override { StopWatching(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void Barrier() override {
    MPI_Request request;
    Check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "wait for the others");
    WaitFor(request);
  }

  void Broadcast(std::span<std::byte> bytes, int root) override {
    ForEachPart(bytes.size(), [&](size_t offset, int count) {
      MPI_Request request;
      Check(MPI_Ibcast(bytes.data() + offset, count, MPI_BYTE, root, MPI_COMM_WORLD, &request), "broadcast");
      WaitFor(request);
    });
  }

  std::vector<std::string> Gather(std::string_view mine) override {
    uint64_t size = mine.size();
    std::vector<uint64_t> sizes(static_cast<size_t>(size_));
    MPI_Request request;
    Check(MPI_Iallgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD, &request),
          "gather");
    WaitFor(request);
    std::vector<std::string> all(static_cast<size_t>(size_));
    for (int rank = 0; rank < size_; ++rank) all[rank].resize(sizes[rank]);
    std::vector<std::span<const std::byte>> outgoing(all.size(), std::as_bytes(std::span(mine)));
    std::vector<std::span<std::byte>> incoming;
    for (std::string& each : all) incoming.push_back(std::as_writable_bytes(std::span(each)));
    Exchange(outgoing, incoming);
    return all;
  }

  void Exchange(std::span<const std::span<const std::byte>> outgoing,
                std::span<const std::span<std::byte>> incoming) override {
    std::vector<MPI_Request> requests;
    for (int step = 1; step < size_; ++step) {
      const int from = (rank_ + size_ - step) % size_;
      ForEachPart(incoming[from].size(), [&](size_t offset, int count) {
        Check(MPI_Irecv(incoming[from].data() + offset, count, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                        &requests.emplace_back()),
              "receive");
      });
    }
    for (int step = 1; step < size_; ++step) {
      const int to = (rank_ + step) % size_;
      ForEachPart(outgoing[to].size(), [&](size_t offset, int count) {
        Check(MPI_Isend(outgoing[to].data() + offset, count, MPI_BYTE, to, 0, MPI_COMM_WORLD,
                        &requests.emplace_back()),
              "send");
      });
    }
    std::ranges::copy(outgoing[rank_], incoming[rank_].begin());
    WaitFor(requests);
  }

  const std::string& host(int rank) const override { return hosts_[rank]; }
  int local_rank() const override { return CountHere(rank_); }
  int local_size() const override { return CountHere(size_); }

  int FindDead() const override {
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_ && hosts_[rank] == hosts_[rank_] && HasEnded(processes_[rank])) return rank;
    return -1;
  }

  void Watch(std::function<void(int, const char*)> lost) override {
    if (size_ == 1) return;
    lost_ = std::move(lost);
    heard_.assign(static_cast<size_t>(size_), Clock::now());
    watcher_ = std::thread([this] { WatchOthers(); });
  }

  // Nobody is missed who has come to the barrier.
  void Finish() override {
    Barrier();
    StopWatching();
    Barrier();
    if (threads_) Listen();
    MPI_Comm_free(&watch_);
    Check(MPI_Finalize(), "finish");
  }

  void Abort(int exit_code) override {
    constexpr std::chrono::milliseconds kUntilHeard(300);
    for (int to = 0; threads_ && to < size_; ++to)
      if (to != rank_)
        Check(MPI_Isend(&kFarewell, 1, MPI_BYTE, to, 0, watch_, &farewells_.emplace_back()), "send");
    if (size_ > 1) std::this_thread::sleep_for(kUntilHeard);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  bool IsEnding() const override { return ending_; }

 private:
  void FindHosts() {
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    Check(MPI_Get_processor_name(name, &length), "tell the host");
    hosts_ = Gather({name, static_cast<size_t>(length)});
    const pid_t own = getpid();
    processes_.resize(static_cast<size_t>(size_));
    Check(MPI_Allgather(&own, sizeof own, MPI_BYTE, processes_.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD),
          "gather");
  }

  int CountHere(int end) const {
    return static_cast<int>(std::count(hosts_.begin(), hosts_.begin() + end, hosts_[rank_]));
  }

  void StopWatching() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (watcher_.joinable()) watcher_.join();
  }

  // The first process hears of all others, they of it.
  void WatchOthers() {
    constexpr std::chrono::milliseconds kPeriod(100);
    constexpr int kBeat = 10;  // periods
    auto looked = Clock::now();
    for (int period = 0;; ++period) {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kPeriod, [this] { return stop_; })) return;
      lock.unlock();
      const int dead = FindDead();
      if (threads_) Listen();
      if (ending_) return;
      if (dead >= 0) return lost_(dead, "has died");
      if (!threads_) continue;
      if (period % kBeat == 0) Beat();
      // It was this process that stood still.
      const auto now = Clock::now();
      if (now - looked > std::chrono::seconds(2)) std::ranges::fill(heard_, now);
      looked = now;
      if (const int silent = FindSilent(now); silent >= 0) return lost_(silent, "does not answer");
    }
  }

  void Beat() {
    if (!beats_.empty()) {
      int done = 0;
      Check(MPI_Testall(static_cast<int>(beats_.size()), beats_.data(), &done, MPI_STATUSES_IGNORE), "send");
      if (done == 0) return;
      beats_.clear();
    }
    for (int to = rank_ == 0 ? 1 : 0; to < (rank_ == 0 ? size_ : 1); ++to)
      Check(MPI_Isend(&kAlive, 1, MPI_BYTE, to, 0, watch_, &beats_.emplace_back()), "send");
  }

  void Listen() {
    for (;;) {
      int waiting = 0;
      MPI_Status status;
      Check(MPI_Iprobe(MPI_ANY_SOURCE, 0, watch_, &waiting, &status), "listen");
      if (waiting == 0) return;
      char byte = 0;
      Check(MPI_Recv(&byte, 1, MPI_BYTE, status.MPI_SOURCE, 0, watch_, MPI_STATUS_IGNORE), "receive");
      if (byte == kFarewell) ending_ = true;
      if (!heard_.empty()) heard_[status.MPI_SOURCE] = Clock::now();
    }
  }

  int FindSilent(Clock::time_point now) const {
    for (int rank = rank_ == 0 ? 1 : 0; rank < (rank_ == 0 ? size_ : 1); ++rank)
      if (std::chrono::duration<double>(now - heard_[rank]).count() > kSilence) return rank;
    return -1;
  }

  int rank_ = 0, size_ = 1;
  bool threads_ = false;  // whether the watching thread may call MPI
  MPI_Comm watch_ = MPI_COMM_NULL;
  std::vector<std::string> hosts_;
  std::vector<pid_t> processes_;
  std::function<void(int, const char*)> lost_;
  std::vector<Clock::time_point> heard_;
  std::vector<MPI_Request> beats_;
  static constexpr char kAlive = 0, kFarewell = 1;
  std::vector<MPI_Request> farewells_;
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread watcher_;
};

}  // namespace
}  // namespace ort_ed

extern "C" __attribute__((visibility("default"))) ort_ed::LaunchedProcesses* OrtEdStartMpi();
extern "C" ort_ed::LaunchedProcesses* OrtEdStartMpi() { return new ort_ed::MpiProcesses; }
