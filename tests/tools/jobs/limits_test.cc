// Small input, large appetite: every reader has a limit and names it (docs/limits.md).
#include "runtime/support/limits.h"

#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <zlib.h>

#include "ort_ed/energy_model.h"
#include "runtime/data/row_reader.h"
#include "runtime/data/table/table_reader.h"
#include "runtime/support/files/read_file.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/log_z/annealing_state_file.h"
#include "tools/jobs/settings/json_object.h"
#include "tools/jobs/settings/toml_file.h"

namespace ort_ed {
namespace {

// The largest resident memory of this process so far.
int64_t PeakMegabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

class Limits : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view bytes) {
    WriteBytes(folder_.File(name), bytes);
    return folder_.File(name);
  }

  void ReadTable(const std::string& path) {
    TableReader reader{InputStream(path)};
    while (reader.Next()) {
    }
  }

  TempDir folder_;
};

const std::string kCells = std::to_string(kMaxColumns);

TEST_F(Limits, ALineOfCommasIsNotTakenApart) {
  const std::string path = Write("commas.csv.gz", Gzip(std::string(kMaxLineBytes - 10, ',') + "\n"));
  const int64_t before = PeakMegabytes();
  ExpectError(
      ErrorCode::kBadData, [&] { ReadRows(path); }, kCells);
  ExpectError(
      ErrorCode::kBadData, [&] { ReadTable(path); }, kCells);
  EXPECT_LT(PeakMegabytes() - before, 300);
}

TEST_F(Limits, ALineHasAnEnd) {
  const std::string path = Write("long.csv.gz", Gzip(std::string(3 * kMaxLineBytes, '1')));
  ExpectError(
      ErrorCode::kBadData, [&] { ReadRows(path); }, std::to_string(kMaxLineBytes));
  ExpectError(
      ErrorCode::kBadData, [&] { ReadTable(path); }, std::to_string(kMaxLineBytes));
}

TEST_F(Limits, ArraysHaveAsManyColumnsAtMost) {
  const std::string wide = "1, " + std::to_string(kMaxColumns + 1);
  ExpectError(
      ErrorCode::kBadData, [&] { ReadRows(Write("wide.npy.gz", Gzip(NpyFile("|u1", wide, "")))); }, kCells);
}

TEST_F(Limits, ModelsHaveAsManyVariablesAtMost) {
  const auto model = [](int64_t variables) {
    return ModelFromText("<ir_version: 8, opset_import: [\"\": 17]> g (float[N, " +
                         std::to_string(variables) +
                         "] x) => (float[N] energy) { a = Constant <value = int64[1] {1}> () "
                         "energy = ReduceSum <keepdims = 0> (x, a) }");
  };
  EXPECT_EQ(EnergyModel::FromMemory(Bytes(model(kMaxColumns))).dimension(), kMaxColumns);
  for (const int64_t many : {kMaxColumns + 1, int64_t{1} << 31, int64_t{1} << 62})
    ExpectError(
        ErrorCode::kBadModel, [&] { EnergyModel::FromMemory(Bytes(model(many))); }, kCells);
}

TEST_F(Limits, DevicesAreNoFiles) {
  ExpectError(
      ErrorCode::kIo, [] { ReadFile("/dev/zero", "model"); }, "it is a device");
  ExpectError(
      ErrorCode::kIo, [] { EnergyModel::FromFile("/dev/zero"); }, "it is a device");
  ExpectError(
      ErrorCode::kIo, [] { ParseTomlFile("/dev/zero", "settings"); }, "it is a device");
  ExpectError(
      ErrorCode::kIo, [] { ReadRows("/dev/zero"); }, "it is a device");
  ExpectError(ErrorCode::kBadData, [] { ReadRows("/dev/null"); });  // which ends
}

TEST_F(Limits, FilesOfSettingsAreNeitherLargeNorDeep) {
  const auto parse = [&](const std::string& text) {
    return ParseTomlFile(Write("a.toml", text), "settings");
  };
  ExpectError(
      ErrorCode::kIo, [&] { parse(std::string(kMaxSettingsBytes + 1, '\n')); },
      std::to_string(kMaxSettingsBytes));
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  for (const std::string& text :
       {deep + " = 1", "[" + deep + "]", "[[" + deep + "]]", "x = { " + deep + " = 1 }"})
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { parse("\n" + text); },
        "a.toml:2:", std::to_string(kMaxSettingsDepth));
  // Behind text that ends in a quote of its own.
  for (const std::string text : {"'''b''''", "\"\"\"b\"\"\"\"\""})
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { parse("x = [" + text + ", { " + deep + " = 1 }]"); },
        "a.toml:1:", std::to_string(kMaxSettingsDepth));
  const std::string brackets = "x = " + std::string(100000, '[');
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { parse(brackets); }, "a.toml:1:", "depth");
  // Dots that are no tables.
  std::string numbers = "x = [", path(1000, '.');
  for (int i = 0; i < 100; ++i) numbers += "0.5, ";
  EXPECT_EQ(
      parse(numbers + "]\n# " + path + "\ny = \"" + path + "\\\"" + path + "\"\nz = '''" + path + "\n'''")
          .size(),
      3u);
}

TEST_F(Limits, StatesAreNotDeep) {
  // CBOR: an array of one element, and texts and bytes in pieces.
  for (const char head : {'\x81', '\x7F', '\x5F'}) {
    const std::string nested(1000000, head);
    const auto checksum =
        static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(nested.data()), nested.size()));
    char text[9];
    std::snprintf(text, sizeof(text), "%08x", checksum);
    const std::string path = Write("state", text + nested);
    ExpectError(
        ErrorCode::kBadData, [&] { AnnealingStateFile(path, {}); }, "damaged");
  }
}

// What a model tells of its training is copied, shown and written.
TEST_F(Limits, JsonIsNotDeep) {
  const auto nested = [](size_t depth) {
    return "{\"a\": " + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(ParseJsonObject(nested(kDeepestJson - 1)).has_value());
  EXPECT_FALSE(ParseJsonObject(nested(kDeepestJson)).has_value());
  EXPECT_FALSE(ParseJsonObject(nested(1000000)).has_value());
  for (const char* text : {"", "[]", "{", "1", "{\"a\": \xff}"}) EXPECT_FALSE(ParseJsonObject(text)) << text;
}

}  // namespace
}  // namespace ort_ed
