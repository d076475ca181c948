#include "tools/jobs/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "ort_ed/error.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/train/pictures/gray_png.h"
#include "tools/jobs/train/pictures/markdown_table.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Record {
  int64_t step = 0;
  double time = 0;
  std::string file_version;
  std::vector<NamedScalar> scalars;
  std::map<std::string, std::vector<double>> bounds, counts;  // of histograms
  std::map<std::string, std::string> pictures;                // PNG
  std::map<std::string, std::string> texts, plugins;
  std::map<std::string, int64_t> tensor_kinds;
};

// A second, independent reading of the format: records, their checksums, and the protobuf fields of Event.
class EventReader {
 public:
  explicit EventReader(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  std::vector<Record> Records() {
    std::vector<Record> records;
    while (position_ < bytes_.size()) {
      const std::string length = Take(8);
      EXPECT_EQ(Unmask(Number<uint32_t>(Take(4))), Crc32c(length));
      const std::string event = Take(Number<uint64_t>(length));
      EXPECT_EQ(Unmask(Number<uint32_t>(Take(4))), Crc32c(event));
      records.push_back(ParseEvent(event));
    }
    return records;
  }

 private:
  static uint32_t Unmask(uint32_t masked) {
    const uint32_t rotated = masked - 0xA282EAD8u;
    return rotated << 15 | rotated >> 17;
  }
  template <typename T>
  static T Number(const std::string& bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string Take(size_t size) {
    EXPECT_LE(size, bytes_.size() - position_);
    position_ += size;
    return bytes_.substr(position_ - size, size);
  }

  // Calls field(number, bytes) for every field of a message; varints arrive as 8 bytes.
  template <typename Callback>
  static void Fields(const std::string& message, const Callback& field) {
    size_t i = 0;
    const auto varint = [&] {
      uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(message.at(i++));
        value |= uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) return value;
      }
    };
    while (i < message.size()) {
      const uint64_t key = varint();
      std::string value;
      if ((key & 7) == 0) {
        const uint64_t number = varint();
        value.assign(reinterpret_cast<const char*>(&number), 8);
      } else {
        const size_t size = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : varint();
        value = message.substr(i, size);
        i += size;
      }
      field(static_cast<int>(key >> 3), value);
    }
  }

  static std::vector<double> Doubles(const std::string& bytes) {
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    return values;
  }

  static Record ParseEvent(const std::string& event) {
    Record record;
    Fields(event, [&](int number, const std::string& value) {
      if (number == 1) record.time = Number<double>(value);
      if (number == 2) record.step = Number<int64_t>(value);
      if (number == 3) record.file_version = value;
      if (number != 5) return;
      Fields(value, [&](int, const std::string& summary_value) {
        NamedScalar& scalar = record.scalars.emplace_back();
        Fields(summary_value, [&](int field, const std::string& content) {
          if (field == 1) scalar.first = content;
          if (field == 2) scalar.second = Number<float>(content);
          if (field == 4 || field == 5 || field == 8 || field == 9)
            Fields(content, [&](int part, const std::string& inner) {
              if (field == 8 && part == 1) record.tensor_kinds[scalar.first] = Number<int64_t>(inner);
              if (field == 8 && part == 8) record.texts[scalar.first] = inner;
              if (field == 9 && part == 1)
                Fields(inner, [&](int, const std::string& plugin) { record.plugins[scalar.first] = plugin; });
              if (field == 4 && part == 4) record.pictures[scalar.first] = inner;
              if (field == 5 && part == 6) record.bounds[scalar.first] = Doubles(inner);
              if (field == 5 && part == 7) record.counts[scalar.first] = Doubles(inner);
            });
        });
      });
    });
    return record;
  }

  std::string bytes_;
  size_t position_ = 0;
};

std::vector<std::string> EventFiles(const TempDir& dir) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) paths.push_back(entry.path());
  return paths;
}

std::vector<int64_t> StepsOf(const std::vector<MetricsLine>& lines) {
  std::vector<int64_t> steps;
  for (const MetricsLine& line : lines) steps.push_back(line.step);
  return steps;
}

TEST(EventFile, ChecksumIsCastagnoli) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);            // the check value of CRC-32C
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);  // RFC 3720, B.4
}

TEST(EventFile, ReadsBackAsTensorBoardReadsIt) {
  TempDir dir;
  EventFile file(dir.path());
  const std::vector<NamedScalar> scalars = {{"loss", 0.25}, {"gradient_norm", -3e10}};
  file.Append(300, 1700000000.5, scalars);
  const std::vector<Record> records = EventReader(file.path()).Records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].file_version, "brain.Event:2");
  EXPECT_EQ(records[1].step, 300);
  EXPECT_EQ(records[1].time, 1700000000.5);
  EXPECT_THAT(records[1].scalars,
              ElementsAre(NamedScalar{"loss", 0.25}, NamedScalar{"gradient_norm", double{-3e10f}}));
}

TEST(EventFile, HistogramsAndPicturesReadBack) {
  TempDir dir;
  EventFile file(dir.path());
  file.AppendHistogram(7, 1.5, "energy/data", std::vector<double>{-1, 0, 0.5, 2});
  file.AppendHistogram(7, 1.5, "same", std::vector<double>{3, 3});
  file.AppendHistogram(7, 1.5, "none", {});
  const std::vector<uint8_t> rows = {1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0};  // three pictures of 2 x 2
  const GrayPicture grid = DrawGrid(rows, 2, 2);
  EXPECT_EQ(grid.height, 7);
  EXPECT_EQ(grid.width, 7);
  file.AppendImage(8, 2.5, "samples", grid.height, grid.width, grid.png);
  const std::vector<Record> records = EventReader(file.path()).Records();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[1].step, 7);
  const std::vector<double>& counts = records[1].counts.at("energy/data");
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), 4);
  EXPECT_EQ(counts.front(), 1);
  EXPECT_EQ(counts.back(), 1);
  EXPECT_EQ(records[1].bounds.at("energy/data").size(), counts.size());
  EXPECT_EQ(records[1].bounds.at("energy/data").back(), 2);
  EXPECT_EQ(records[2].counts.at("same").front(), 2);
  EXPECT_EQ(records[3].step, 8);
  EXPECT_TRUE(records[3].pictures.at("samples").starts_with("\x89PNG\r\n"));
  EXPECT_EQ(ReadPictures(file.path(), 7).records.size(), 2u);
}

TEST(EventFile, TextsReadBackAsTheTextPluginReadsThem) {
  TempDir dir;
  EventFile file(dir.path());
  file.AppendText(9, 3.5, "rows/samples", "| a |\n| --- |\n| 1 |\n");
  const std::vector<Record> records = EventReader(file.path()).Records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].step, 9);
  EXPECT_EQ(records[1].texts.at("rows/samples"), "| a |\n| --- |\n| 1 |\n");
  EXPECT_EQ(records[1].tensor_kinds.at("rows/samples"), 7);  // strings
  EXPECT_EQ(records[1].plugins.at("rows/samples"), "text");
  EXPECT_EQ(ReadPictures(file.path(), 9).records.size(), 1u);
  EXPECT_TRUE(ReadPictures(file.path(), 8).records.empty());
}

TEST(MarkdownTable, HasTheTablesOwnCategories) {
  const Variables variables =
      ParseVariables(R"([{"name": "a|b", "kind": "nominal", "labels": ["S", "M\nM"]},)"
                     R"({"name": "new", "kind": "binary", "labels": ["no", "yes"]}])");
  std::vector<uint8_t> rows = {1, 0, 1, 0, 1, 0};
  EXPECT_EQ(MarkdownTable(variables, rows), "| a\\|b | new |\n| --- | --- |\n| S | yes |\n| M M | no |\n");
  for (int i = 0; i < 20; ++i) rows.insert(rows.end(), {1, 0, 1});
  EXPECT_EQ(std::ranges::count(MarkdownTable(variables, rows), '\n'), 12);
}

// Text of the categories of a table at every validation, in the file of a whole training.
TEST(EventFile, TablesHaveRowsOfTheirOwnInTensorBoard) {
  TempDir dir;
  std::string table = "size,new\n";
  for (int i = 0; i < 60; ++i) table += i % 3 == 0 ? "small,yes\n" : "large,no\n";
  WriteBytes(dir.File("rows.csv"), table);
  TrainOptions options;
  options.data.data = dir.File("rows.csv");
  options.network.model = {"mlp", {{"hidden", "4"}}};
  options.network.base = {"made", {{"base_hidden", "4"}, {"base_steps", "20"}}};
  options.run.steps = 20;
  options.run.validate_every = {.steps = 10};
  options.run.threads = 1;
  Observer quiet;
  TrainInFolder(options, dir.File("run"), ExistingRun::kRefuse, quiet);
  std::string events;
  for (const auto& entry : std::filesystem::directory_iterator(dir.File("run")))
    if (IsEventFile(entry.path().filename().string())) events = entry.path();
  int tables = 0;
  for (const Record& record : EventReader(events).Records())
    for (const auto& [name, text] : record.texts) {
      EXPECT_THAT(text, testing::StartsWith("| size | new |\n| --- | --- |\n| "));
      tables += name == "rows/negatives";
    }
  EXPECT_GE(tables, 2);
}

TEST(MetricsLog, PicturesOutliveAResumedRun) {
  TempDir dir;
  {
    MetricsLog log(dir.path(), 0);
    for (const int64_t step : {10, 20, 30}) {
      log.Append({step, 1.5, {{"loss", 0.5}}});
      log.AppendHistogram(step, 1.5, "energy/data", std::vector<double>{1, 2});
    }
  }
  MetricsLog resumed(dir.path(), 20);
  ASSERT_EQ(EventFiles(dir).size(), 1u);
  std::vector<int64_t> steps;
  for (const Record& record : EventReader(EventFiles(dir)[0]).Records())
    if (!record.counts.empty()) steps.push_back(record.step);
  EXPECT_THAT(steps, ElementsAre(10, 20));
}

std::vector<int64_t> StepsOfHistograms(const TempDir& dir) {
  std::vector<int64_t> steps;
  for (const Record& record : EventReader(EventFiles(dir).at(0)).Records())
    if (!record.counts.empty()) steps.push_back(record.step);
  return steps;
}

// The event file of a run with a histogram at steps 10, 20 and 30.
std::string LogHistograms(const TempDir& dir) {
  MetricsLog log(dir.path(), 0);
  for (const int64_t step : {10, 20, 30})
    log.AppendHistogram(step, 1.5, "energy/data", std::vector<double>{1, 2});
  return EventFiles(dir).at(0);
}

TEST(MetricsLog, AnEventFileThatCannotBeReadStays) {
  const TempDir dir;
  const std::string events = LogHistograms(dir);
  std::filesystem::rename(events, dir.File("kept"));
  std::filesystem::create_directory(events);
  EXPECT_THROW(MetricsLog(dir.path(), 30), Error);
  EXPECT_TRUE(std::filesystem::is_directory(events));
  std::filesystem::remove(events);
  ASSERT_EQ(mkfifo(events.c_str(), 0600), 0);
  EXPECT_THROW(MetricsLog(dir.path(), 30), Error);  // and does not wait for somebody who writes
  std::filesystem::remove(events);
  std::filesystem::rename(dir.File("kept"), events);
  const MetricsLog log(dir.path(), 30);
  EXPECT_THAT(StepsOfHistograms(dir), ElementsAre(10, 20, 30));
  EXPECT_TRUE(log.warnings().empty());
}

void Damage(const std::string& events) {
  std::fstream file(events, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(events) / 2));
  file << "damage";
}

TEST(MetricsLog, PicturesBehindADamagedOneAreKept) {
  const TempDir dir;
  const std::string events = LogHistograms(dir);
  Damage(events);
  const MetricsLog log(dir.path(), 30);
  EXPECT_THAT(StepsOfHistograms(dir), ElementsAre(10, 30));
  ASSERT_EQ(log.warnings().size(), 1u);
  EXPECT_THAT(log.warnings()[0], HasSubstr("damaged"));
  const auto kept = std::ranges::count_if(
      std::filesystem::directory_iterator(dir.path()),
      [](const auto& entry) { return entry.path().filename().string().starts_with("damaged."); });
  EXPECT_EQ(kept, 1);
}

TEST(MetricsLog, EveryDamagedFileIsKept) {
  const TempDir dir;
  const std::string events = LogHistograms(dir);
  Damage(events);
  std::filesystem::copy_file(events, dir.File("copy"));
  { const MetricsLog log(dir.path(), 30); }
  std::filesystem::rename(dir.File("copy"), events);
  const MetricsLog log(dir.path(), 30);
  const auto kept = std::ranges::count_if(
      std::filesystem::directory_iterator(dir.path()),
      [](const auto& entry) { return entry.path().filename().string().starts_with("damaged."); });
  EXPECT_EQ(kept, 2);
  ASSERT_EQ(log.warnings().size(), 1u);
  EXPECT_THAT(log.warnings()[0], HasSubstr(".ort-ed.2"));
}

TEST(MetricsLog, APictureThatWasCutShortIsNoDamage) {
  const TempDir dir;
  const std::string events = LogHistograms(dir);
  std::filesystem::resize_file(events, std::filesystem::file_size(events) - 3);
  const MetricsLog log(dir.path(), 30);
  EXPECT_THAT(StepsOfHistograms(dir), ElementsAre(10, 20));
  EXPECT_TRUE(log.warnings().empty());
  EXPECT_EQ(EventFiles(dir).size(), 1u);
}

TEST(MetricsLog, LinesReadBack) {
  TempDir dir;
  {
    MetricsLog log(dir.path(), 0);
    log.Append({10, 1.5, {{"loss", 0.125}, {"steps_per_second", 33}}});
    log.Append({20, 2.5, {{"loss", 0.1}}});
  }
  const auto lines = ReadMetrics(dir.File("metrics.jsonl"));
  EXPECT_THAT(StepsOf(lines), ElementsAre(10, 20));
  EXPECT_EQ(lines[0].time, 1.5);
  EXPECT_THAT(lines[0].values,
              ElementsAre(NamedScalar{"loss", 0.125}, NamedScalar{"steps_per_second", 33.0}));
  EXPECT_THAT(lines[1].values, ElementsAre(NamedScalar{"loss", 0.1}));
}

TEST(MetricsLog, ResumingDropsWhatComesAfterTheCheckpoint) {
  TempDir dir;
  {
    MetricsLog log(dir.path(), 0);
    for (int step = 10; step <= 50; step += 10) log.Append({step, 1.0 * step, {{"loss", 1.0 / step}}});
  }
  std::ofstream(dir.File("metrics.jsonl"), std::ios::app) << "{\"step\":60,\"ti";
  {
    MetricsLog log(dir.path(), 30);
    log.Append({40, 4.5, {{"loss", 2}}});
  }
  EXPECT_THAT(StepsOf(ReadMetrics(dir.File("metrics.jsonl"))), ElementsAre(10, 20, 30, 40));
  const auto events = EventFiles(dir);
  ASSERT_EQ(events.size(), 1u);
  std::vector<int64_t> steps;
  for (const Record& record : EventReader(events[0]).Records()) steps.push_back(record.step);
  EXPECT_THAT(steps, ElementsAre(0, 10, 20, 30, 40));
}

TEST(MetricsLog, DamageIsReportedWithItsLine) {
  TempDir dir;
  std::ofstream(dir.File("metrics.jsonl")) << "{\"step\":1,\"time\":1}\nnonsense\n";
  try {
    ReadMetrics(dir.File("metrics.jsonl"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("metrics.jsonl:2: not a line of metrics"));
  }
}

TEST(MetricsLog, WhatIsNotANumberIsLeftOut) {
  const TempDir dir;
  MetricsLog(dir.path(), 0).Append({.step = 1, .time = 2, .values = {{"loss", NAN}, {"norm", 3}}});
  const auto lines = ReadMetrics(dir.File(MetricsLog::FileName()));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0].values, ElementsAre(NamedScalar{"norm", 3}));
}

TEST(MetricsLog, MissingFolderIsAnError) { EXPECT_THROW(MetricsLog("/nowhere/at/all", 0), Error); }

// A run that goes on would begin with an empty one.
TEST(Metrics, AFileThatCannotBeReadIsNotReplaced) {
  const TempDir folder;
  const std::string path = folder.File(MetricsLog::FileName());
  std::filesystem::create_directory(path);
  EXPECT_THROW(MetricsLog(folder.path(), 5), Error);
  EXPECT_TRUE(std::filesystem::is_directory(path));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder.File("elsewhere"), path);
  EXPECT_THROW(MetricsLog(folder.path(), 5), Error);
  EXPECT_TRUE(std::filesystem::is_symlink(path));
}

TEST(Metrics, EventFilesOfOthersStay) {
  const TempDir folder;
  const std::string theirs = folder.File("events.out.tfevents.1.host.2");
  std::ofstream(theirs) << "theirs";
  MetricsLog(folder.path(), 5);
  MetricsLog(folder.path(), 5);
  EXPECT_TRUE(std::filesystem::exists(theirs));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
}

}  // namespace
}  // namespace ort_ed
