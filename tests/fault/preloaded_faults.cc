// Preloaded into `ort-ed` (LD_PRELOAD): lets calls fail as they do on a full disk or with too little memory.
//
//   ORT_ED_FAULT   what fails, from the beginning of main() on:
//     disk-full    the n-th call that changes the disk, and all later ones (ENOSPC; of a write, half is done)
//     disk-error   only the n-th such call (EIO)
//     allocation   the n-th allocation
//     memory-limit every allocation with which more than n bytes would be in use
//   ORT_ED_FAULT_AT     n, from 1; 0: nothing fails
//   ORT_ED_FAULT_TRACE  a file that gets a line for each call that changes the disk: "<n> <call> <file>". Of
//                       allocations, where nothing fails, "<n> <library>+<offset>" for the 1st, 2nd, 4th, ...
//                       of each place in the code, or whenever some KiB more are in use; else for those that
//                       fail.
//
// Calls on the standard error output do not count: whoever cannot write there cannot tell it either.

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

enum class Fault { kNone, kDiskFull, kDiskError, kAllocation, kMemoryLimit };

// What the environment says; read before main(), not changed after.
Fault fault = Fault::kNone;
int64_t at = 0;
int trace = -1;

std::atomic<bool> in_main = false;
std::atomic<int64_t> count = 0;

// The next function of that name behind this library.
template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define NEXT(name) static auto* const next = Next<decltype(name)>(#name)

bool IsOfDisk() { return fault == Fault::kDiskFull || fault == Fault::kDiskError; }

void WriteTrace(const char* text, int size) {
  if (trace >= 0 && size > 0) syscall(SYS_write, trace, text, static_cast<size_t>(size));
}

// ---- The disk ----

void TraceCall(int64_t number, const char* call, const char* file) {
  char line[600];
  WriteTrace(line, snprintf(line, sizeof(line), "%ld %s %s\n", number, call, file));
}

bool FailsOnDisk(const char* call, const char* file) {
  if (!in_main || !IsOfDisk()) return false;
  const int64_t number = ++count;
  const bool fails = at > 0 && (number == at || (fault == Fault::kDiskFull && number > at));
  TraceCall(number, call, file);
  if (fails) errno = fault == Fault::kDiskFull ? ENOSPC : EIO;
  return fails;
}

// Of a file that is open for writing.
bool FailsOnDisk(const char* call, int descriptor) {
  if (!in_main || !IsOfDisk() || descriptor == STDERR_FILENO) return false;
  struct stat status;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(descriptor, &status) != 0 ||
      !S_ISREG(status.st_mode))
    return false;
  char link[64], file[500];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, file, sizeof(file) - 1);
  file[std::max<ssize_t>(0, size)] = '\0';
  return FailsOnDisk(call, file);
}

// A disk that gets full takes the beginning of what is written.
size_t PartThatFits(size_t size) {
  return fault == Fault::kDiskFull && count == at && errno == ENOSPC ? size / 2 : 0;
}

bool Writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0; }
bool Writes(const char* mode) { return strpbrk(mode, "wa+") != nullptr; }
bool IsOfSystem(const char* path) {
  return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

bool FailsToOpen(const char* path, bool writes) {
  return writes && !IsOfSystem(path) && FailsOnDisk("open", path);
}

// ---- Memory ----

// How often each place in the code has asked, by open addressing; never full.
class Places {
 public:
  // The number of times with this one.
  int64_t Count(uintptr_t place) {
    for (size_t i = place * 0x9E3779B97F4A7C15u >> 44;; ++i) {
      Slot& slot = slots_[i % slots_.size()];
      uintptr_t known = 0;
      if (slot.place.compare_exchange_strong(known, place) || known == place) return ++slot.count;
    }
  }

 private:
  struct Slot {
    std::atomic<uintptr_t> place;
    std::atomic<int64_t> count;
  };
  std::array<Slot, size_t{1} << 20> slots_{};
};
Places places;

void TracePlace(int64_t number, void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return;
  const char* const slash = strrchr(info.dli_fname, '/');
  const auto offset = static_cast<char*>(caller) - static_cast<char*>(info.dli_fbase);
  char line[600];
  WriteTrace(line,
             snprintf(line, sizeof(line), "%ld %s+%#lx\n", number,
                      slash != nullptr ? slash + 1 : info.dli_fname, static_cast<unsigned long>(offset)));
}

std::atomic<int64_t> in_use = 0, traced = 0;  // bytes

// Whether the n-th allocation, or one with which `n` bytes are in use, is worth a line.
bool IsWorthATrace(int64_t n, void* caller) {
  constexpr int64_t kStep = 4096;
  if (trace < 0) return false;
  if (fault == Fault::kMemoryLimit) {
    if (n < traced + kStep) return false;
    traced = n;
    return true;
  }
  const int64_t times = places.Count(reinterpret_cast<uintptr_t>(caller));
  return (times & (times - 1)) == 0;
}

// An allocation that `caller` asks for.
bool LacksMemory(size_t size, void* caller) {
  if (!in_main || (fault != Fault::kAllocation && fault != Fault::kMemoryLimit)) return false;
  const bool limited = fault == Fault::kMemoryLimit;
  const int64_t n = limited ? in_use + static_cast<int64_t>(size) : ++count;
  const bool fails = at > 0 && (limited ? n > at : n == at);
  if (fails || (at == 0 && IsWorthATrace(n, caller))) TracePlace(n, caller);
  if (fails) errno = ENOMEM;
  return fails;
}

// What was got counts as in use.
void* Counted(void* memory) {
  if (fault == Fault::kMemoryLimit && in_main) in_use += static_cast<int64_t>(malloc_usable_size(memory));
  return memory;
}

void Discount(void* memory) {
  if (fault == Fault::kMemoryLimit && in_main) in_use -= static_cast<int64_t>(malloc_usable_size(memory));
}

void* Allocate(size_t size, size_t alignment, void* caller) {
  if (LacksMemory(size, caller)) return nullptr;
  return Counted(alignment > alignof(max_align_t) ? __libc_memalign(alignment, size) : __libc_malloc(size));
}

void* New(size_t size, size_t alignment, void* caller) {
  void* const memory = Allocate(size, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// ---- From main() on ----

int (*program)(int, char**, char**) = nullptr;

int Main(int argc, char** argv, char** environment) {
  in_main = true;
  return program(argc, argv, environment);
}

void ReadEnvironment() {
  const char* what = getenv("ORT_ED_FAULT");
  if (what == nullptr) return;
  const auto is = [&](const char* name) { return strcmp(what, name) == 0; };
  fault = is("disk-full")      ? Fault::kDiskFull
          : is("disk-error")   ? Fault::kDiskError
          : is("allocation")   ? Fault::kAllocation
          : is("memory-limit") ? Fault::kMemoryLimit
                               : Fault::kNone;
  if (const char* number = getenv("ORT_ED_FAULT_AT")) at = atoll(number);
  if (const char* file = getenv("ORT_ED_FAULT_TRACE"))
    trace = static_cast<int>(
        syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  NEXT(__libc_start_main);
  ReadEnvironment();
  program = main;
  return next(Main, argc, argv, init, fini, loader_fini, stack_end);
}

void* malloc(size_t size) { return Allocate(size, 0, CALLER); }
void* calloc(size_t number, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(number, size, &bytes)) return nullptr;
  return LacksMemory(bytes, CALLER) ? nullptr : Counted(__libc_calloc(number, size));
}
void* realloc(void* memory, size_t size) {
  if (LacksMemory(size, CALLER)) return nullptr;
  Discount(memory);
  return Counted(__libc_realloc(memory, size));
}
void* memalign(size_t alignment, size_t size) { return Allocate(size, alignment, CALLER); }
void* aligned_alloc(size_t alignment, size_t size) { return Allocate(size, alignment, CALLER); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  void* const got = Allocate(size, alignment, CALLER);
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}
void free(void* memory) {
  Discount(memory);
  __libc_free(memory);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  NEXT(write);
  if (!FailsOnDisk("write", descriptor)) return next(descriptor, bytes, size);
  const size_t part = PartThatFits(size);
  return part == 0 ? -1 : next(descriptor, bytes, part);
}
ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  NEXT(pwrite);
  if (!FailsOnDisk("pwrite", descriptor)) return next(descriptor, bytes, size, offset);
  const size_t part = PartThatFits(size);
  return part == 0 ? -1 : next(descriptor, bytes, part, offset);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}
ssize_t writev(int descriptor, const iovec* parts, int number) {
  NEXT(writev);
  return FailsOnDisk("writev", descriptor) ? -1 : next(descriptor, parts, number);
}
size_t fwrite(const void* bytes, size_t size, size_t number, FILE* file) {
  NEXT(fwrite);
  if (!FailsOnDisk("fwrite", fileno(file))) return next(bytes, size, number, file);
  const size_t part = size == 1 ? PartThatFits(number) : 0;
  const size_t done = part == 0 ? 0 : next(bytes, size, part, file);
  errno = fault == Fault::kDiskFull ? ENOSPC : EIO;
  return done;
}
int fflush(FILE* file) {
  NEXT(fflush);
  return file != nullptr && FailsOnDisk("fflush", fileno(file)) ? EOF : next(file);
}
int fputc(int c, FILE* file) {
  NEXT(fputc);
  return FailsOnDisk("fputc", fileno(file)) ? EOF : next(c, file);
}
int putc(int c, FILE* file) { return fputc(c, file); }
int fputs(const char* text, FILE* file) {
  NEXT(fputs);
  return FailsOnDisk("fputs", fileno(file)) ? EOF : next(text, file);
}
int close(int descriptor) {
  NEXT(close);
  const bool fails = FailsOnDisk("close", descriptor);
  const int error = errno, result = next(descriptor);
  if (!fails) return result;
  errno = error;
  return -1;
}
int fclose(FILE* file) {
  NEXT(fclose);
  const bool fails = FailsOnDisk("fclose", fileno(file));
  const int error = errno, result = next(file);
  if (!fails) return result;
  errno = error;
  return EOF;
}
int fsync(int descriptor) {
  NEXT(fsync);
  return FailsOnDisk("fsync", descriptor) ? -1 : next(descriptor);
}
int fdatasync(int descriptor) {
  NEXT(fdatasync);
  return FailsOnDisk("fdatasync", descriptor) ? -1 : next(descriptor);
}
int ftruncate(int descriptor, off_t size) {
  NEXT(ftruncate);
  return FailsOnDisk("ftruncate", descriptor) ? -1 : next(descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }
int rename(const char* from, const char* to) {
  NEXT(rename);
  return FailsOnDisk("rename", to) ? -1 : next(from, to);
}
int mkdir(const char* path, mode_t mode) {
  NEXT(mkdir);
  return FailsOnDisk("mkdir", path) ? -1 : next(path, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  NEXT(openat);
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return FailsToOpen(path, Writes(flags)) ? -1 : next(folder, path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return openat(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));
FILE* fopen(const char* path, const char* mode) {
  NEXT(fopen);
  return FailsToOpen(path, Writes(mode)) ? nullptr : next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));

}  // extern "C"

void* operator new(size_t size) { return New(size, 0, CALLER); }
void* operator new[](size_t size) { return New(size, 0, CALLER); }
void* operator new(size_t size, std::align_val_t alignment) {
  return New(size, static_cast<size_t>(alignment), CALLER);
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return New(size, static_cast<size_t>(alignment), CALLER);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 0, CALLER); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 0, CALLER); }
