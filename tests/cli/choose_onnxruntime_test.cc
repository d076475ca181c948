#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Variable {
 public:
  explicit Variable(const std::string& value) { setenv("ORT_ED_ONNXRUNTIME", value.c_str(), 1); }
  ~Variable() { unsetenv("ORT_ED_ONNXRUNTIME"); }
};

// As PyPI's packages have it: under its full name alone, deep in a folder.
std::string CopiedLibrary(const TempDir& folder) {
  const fs::path target = fs::path(folder.path()) / "onnxruntime/capi/libonnxruntime.so.1.99.0";
  fs::create_directories(target.parent_path());
  fs::copy_file(fs::canonical(ORT_ED_LINKED_ONNXRUNTIME), target);
  return target;
}

std::string LoadedLibrary(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"devices", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const CommandResult result = RunOrtEd(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return nlohmann::json::parse(result.out)["library"];
}

void ExpectRefused(const std::string& folder, const std::string& reason, int exit_code = 1) {
  const CommandResult result = RunOrtEd({"devices", "--onnxruntime", folder});
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("--onnxruntime"), HasSubstr(reason)));
  EXPECT_THAT(result.out, IsEmpty());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which must be preloaded themselves
TEST(ChooseOnnxRuntime, TheOptionAndTheEnvironmentChooseTheLibrary) {
  const TempDir folder;
  const std::string library = CopiedLibrary(folder);
  EXPECT_NE(LoadedLibrary({}), library);
  EXPECT_EQ(LoadedLibrary({"--onnxruntime", folder.path()}), library);
  EXPECT_EQ(LoadedLibrary({"--onnxruntime=" + library}), library);
  const Variable variable(folder.path());
  EXPECT_EQ(LoadedLibrary({}), library);
  EXPECT_TRUE(
      fs::equivalent(LoadedLibrary({"--onnxruntime", ORT_ED_LINKED_ONNXRUNTIME}), ORT_ED_LINKED_ONNXRUNTIME));
}

TEST(ChooseOnnxRuntime, ModelsScoreTheSame) {
  const TempDir folder;
  std::ofstream(folder.File("model.onnx"), std::ios::binary) << MlpModel(6, {8});
  const std::string rows = "0,1,0,1,0,1\n1,1,1,0,0,0\n";
  CopiedLibrary(folder);
  const CommandResult linked = RunOrtEd({"score", folder.File("model.onnx"), "-"}, rows);
  const CommandResult chosen =
      RunOrtEd({"score", folder.File("model.onnx"), "-", "--onnxruntime", folder.path()}, rows);
  EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
  EXPECT_EQ(chosen.out, linked.out);
}

// PyPI's CUDA build, where tools/setup.sh --cuda brought it.
TEST(ChooseOnnxRuntime, TheCudaBuildRunsOnTheCpuAndSaysWhatIsMissing) {
  const char* cache = std::getenv("ORT_ED_CACHE");
  const char* home = std::getenv("HOME");
  const fs::path root =
      cache != nullptr ? fs::path(cache) : fs::path(home == nullptr ? "" : home) / ".cache/ort-ed";
  std::string found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error))
    if (entry.path().filename().string().starts_with("cuda-onnxruntime-")) found = entry.path();
  if (found.empty()) GTEST_SKIP() << "no CUDA build of ONNX Runtime; tools/setup.sh --cuda brings one";
  const TempDir folder;
  std::ofstream(folder.File("model.onnx"), std::ios::binary) << MlpModel(6, {8});
  const std::string rows = "0,1,0,1,0,1\n1,1,1,0,0,0\n";
  const CommandResult linked = RunOrtEd({"score", folder.File("model.onnx"), "-"}, rows);
  const CommandResult chosen =
      RunOrtEd({"score", folder.File("model.onnx"), "-", "--onnxruntime", found}, rows);
  EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
  EXPECT_EQ(chosen.out, linked.out);
  const auto json = nlohmann::json::parse(RunOrtEd({"devices", "--json", "--onnxruntime", found}).out);
  for (const auto& device : json["devices"]) {
    if (device["name"] != "cuda" || device["usable"].get<bool>()) continue;
    EXPECT_THAT(device["reason"].get<std::string>(), HasSubstr("driver"));
  }
}
#endif

TEST(ChooseOnnxRuntime, AFolderWithoutALibraryIsRefused) {
  const TempDir folder;
  ExpectRefused(folder.path(), "it has no libonnxruntime.so");
  ExpectRefused(folder.File("nowhere"), "there is no such folder");
  ExpectRefused("", "not an empty name", 2);
}

TEST(ChooseOnnxRuntime, AnOlderLibraryIsRefused) {
  ExpectRefused(ORT_ED_OLD_ONNXRUNTIME, "it is version 1.10.0, but this program needs 1.");
}

TEST(ChooseOnnxRuntime, WhatIsNoLibraryOfThisProcessorIsRefused) {
  const TempDir folder;
  std::ofstream(folder.File("libonnxruntime.so.1")) << "no library";
  ExpectRefused(folder.path(), "no shared library");
  Elf64_Ehdr header{};
  std::ifstream("/proc/self/exe", std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof(header));
  header.e_machine = header.e_machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
  std::ofstream(folder.File("libonnxruntime.so.1"), std::ios::binary)
      .write(reinterpret_cast<const char*>(&header), sizeof(header));
  ExpectRefused(folder.path(),
                header.e_machine == EM_AARCH64 ? "it is made for 64-bit Arm" : "it is made for x86-64");
}

TEST(ChooseOnnxRuntime, APathThatTheLoaderWouldCutIsRefused) {
  const TempDir folder;
  fs::create_directory(folder.File("a folder"));
  fs::copy_file(fs::canonical(ORT_ED_LINKED_ONNXRUNTIME), folder.File("a folder") + "/libonnxruntime.so.1");
  ExpectRefused(folder.File("a folder"), "has a blank or a colon");
}

TEST(ChooseOnnxRuntime, MisuseIsExitCodeTwo) {
  EXPECT_EQ(RunOrtEd({"devices", "--onnxruntime"}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"devices", "--onnxruntime", "a", "--onnxruntime=b"}).exit_code, 2);
}

}  // namespace
}  // namespace ort_ed
