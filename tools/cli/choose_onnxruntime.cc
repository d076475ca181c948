#include "tools/cli/choose_onnxruntime.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <dlfcn.h>
#include <elf.h>
#include <onnxruntime_c_api.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/provider.h"
#include "runtime/support/text.h"
#include "tools/cli/command.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

constexpr char kOption[] = "--onnxruntime";
constexpr char kVariable[] = "ORT_ED_ONNXRUNTIME";
constexpr char kRestarted[] = "ORT_ED_ONNXRUNTIME_RESTARTED";

std::string Value(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// What the option says, which is taken out; nothing where it is not given.
std::optional<std::string> TakeOption(std::vector<std::string>& words) {
  const std::string with_value = std::string(kOption) + "=";
  std::optional<std::string> folder;
  for (size_t i = 0; i < words.size() && words[i] != "--";) {
    const bool alone = words[i] == kOption;
    if (!alone && !words[i].starts_with(with_value)) {
      ++i;
      continue;
    }
    if (folder) throw UsageError(fmt::format("{} is given twice", kOption));
    if (alone && i + 1 == words.size()) throw UsageError(fmt::format("{} needs a folder", kOption));
    folder = alone ? words[i + 1] : words[i].substr(with_value.size());
    if (folder->empty()) throw UsageError(fmt::format("{} needs a folder, not an empty name", kOption));
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(first, first + (alone ? 2 : 1));
  }
  return folder;
}

bool IsLibraryName(const std::string& name) {
  return name == "libonnxruntime.so" || name.starts_with("libonnxruntime.so.");
}

// The library in a folder as packages lay it out: itself, under lib, or in a Python's site-packages.
fs::path FindLibrary(const std::string& folder, const std::string& asked_by) {
  std::error_code error;
  const fs::path root = fs::absolute(folder, error).lexically_normal();
  if (IsLibraryName(root.filename()) && fs::is_regular_file(root, error)) return root;
  if (!fs::is_directory(root, error))
    throw Error(ErrorCode::kIo, fmt::format("{} '{}': there is no such folder", asked_by, folder));
  for (const char* part : {"", "lib", "lib64", "onnxruntime/capi"}) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(root / part, error))
      if (IsLibraryName(entry.path().filename()) && entry.is_regular_file(error))
        found.push_back(entry.path());
    // Of libonnxruntime.so, .so.1 and .so.1.31.1, of which most are links, the one that a program asks for.
    const auto linked = [](const fs::path& path) { return path.filename() == "libonnxruntime.so.1"; };
    if (const auto best = std::ranges::find_if(found, linked); best != found.end()) return *best;
    if (!found.empty()) return *std::ranges::max_element(found);
  }
  throw Error(ErrorCode::kIo,
              fmt::format("{} '{}': it has no libonnxruntime.so, neither there nor in lib, lib64 or "
                          "onnxruntime/capi; `tools/setup.sh --cuda` brings one",
                          asked_by, folder));
}

std::string MachineName(uint16_t machine) {
  if (machine == EM_X86_64) return "x86-64";
  if (machine == EM_AARCH64) return "64-bit Arm";
  return fmt::format("another processor (ELF machine {})", machine);
}

// The processor that a library or a program is made for; nothing where it is none of 64 bits.
std::optional<uint16_t> Machine(const fs::path& file) {
  Elf64_Ehdr header;
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(&header), sizeof(header))) return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  return header.e_machine;
}

// Why the library cannot take the place of the one that was linked; empty if it can.
std::string Problem(const fs::path& library) {
  const auto machine = Machine(library), own = Machine("/proc/self/exe");
  if (!machine) return "it is no shared library of 64 bits";
  if (own && *machine != *own)
    return fmt::format("it is made for {}, this program for {}", MachineName(*machine), MachineName(*own));
  if (library.native().find_first_of(": ") != std::string::npos)
    return "its path has a blank or a colon, at which the system's loader would cut it; make a link to the "
           "folder, without one";
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return fmt::format("it cannot be loaded: {}", dlerror());
  const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (base == nullptr) return "it is no ONNX Runtime: it has no OrtGetApiBase";
  const std::string version = base()->GetVersionString();
  const std::vector<std::string> parts = Split(version, '.');
  if (parts.size() > 1 && parts[0] == "1" && std::atoi(parts[1].c_str()) < ORT_API_VERSION)
    return fmt::format("it is version {}, but this program needs 1.{} or newer", version, ORT_API_VERSION);
  return "";
}

// Where PyPI's packages of CUDA lie, if the library is PyPI's, too: it does not find them by itself.
std::vector<std::string> CudaFolders(const fs::path& library) {
  std::vector<std::string> folders = {library.parent_path()};
  std::error_code error;
  const fs::path packages = library.parent_path().parent_path().parent_path() / "nvidia";
  for (const auto& entry : fs::directory_iterator(packages, error))
    if (fs::is_directory(entry.path() / "lib", error)) folders.push_back(entry.path() / "lib");
  std::ranges::sort(folders);
  return folders;
}

void PutFirst(const char* variable, const std::string& value) {
  const std::string before = Value(variable);
  const std::string all = before.empty() ? value : value + ":" + before;
  if (setenv(variable, all.c_str(), /*overwrite=*/1) != 0) throw std::bad_alloc();
}

// The loader decides before a program begins, so the program has to begin again. Preloaded, a library stands
// for every other of its name, wherever the program was told to look.
[[noreturn]] void Restart(const fs::path& library, const std::vector<std::string>& words) {
  PutFirst("LD_PRELOAD", library);
  PutFirst("LD_LIBRARY_PATH", Join(CudaFolders(library), ":"));
  PutFirst(kRestarted, "1");
  std::error_code error;
  std::string self = fs::read_symlink("/proc/self/exe", error);
  if (!fs::exists(self, error)) self = "/proc/self/exe";
  std::vector<char*> arguments = {self.data()};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(self.c_str(), arguments.data());
  throw Error(ErrorCode::kIo, fmt::format("cannot start '{}' anew: {}", self, std::strerror(errno)));
}

}  // namespace

void ChooseOnnxRuntime(std::vector<std::string>& words) {
  const std::vector<std::string> all = words;
  const std::optional<std::string> option = TakeOption(words);
  const std::string folder = option ? *option : Value(kVariable);
  if (folder.empty()) return;
  const std::string asked_by = option ? kOption : kVariable;
  const fs::path library = FindLibrary(folder, asked_by);
  std::error_code error;
  const bool loaded = fs::equivalent(library, OnnxRuntimeLibrary(), error);
  const bool restarted = !Value(kRestarted).empty();
  unsetenv(kRestarted);
  if (loaded) return;
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorCode::kIo,
                fmt::format("{}: '{}' cannot be used: {}", asked_by, library.native(), problem));
  };
  if (restarted) refuse("the system's loader took '" + OnnxRuntimeLibrary() + "' instead");
  if (const std::string problem = Problem(library); !problem.empty()) refuse(problem);
  Restart(library, all);
}

}  // namespace ort_ed
