// Which base a short race chooses, and that a run goes on from wherever it was cut.

#include "tools/jobs/train/learned_base/race_bases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/train/base_training.h"
#include "tests/tools/jobs/train/stopper.h"

namespace ort_ed {
namespace {

constexpr int64_t kColumns = 9;

// Every third bit is the exclusive or of the two before it, which no sum of pairs can tell.
RowTable Parities(int64_t rows, int64_t columns = kColumns) {
  RowTable table{.rows = rows, .columns = columns, .values = {}};
  RandomStream random(1, 2, 3, 4);
  for (int64_t i = 0; i < rows * columns; ++i) {
    const auto bit = static_cast<uint8_t>(random.Below(2));
    const auto& made = table.values;
    table.values.push_back(i % 3 == 2 ? static_cast<uint8_t>(made[i - 1] ^ made[i - 2]) : bit);
  }
  return table;
}

TrainOptions Racing() {
  TrainOptions options = Options({"mlp", {{"hidden", "8"}}}, "draws",
                                 {"made",
                                  {{"base_race", true},
                                   {"base_order", "ascending"},
                                   {"base_learning_rate", 0.02},
                                   {"base_batch_size", int64_t{50}},
                                   {"base_steps", int64_t{1500}}}});
  return options;
}

TEST(RaceBases, TakesWhatMakesHeldOutRowsLikely) {
  Observer quiet;
  const TrainOptions options = Racing();
  const auto dataset = std::make_shared<Dataset>(DatasetFromRows(Parities(2000), options.data, 0));
  const std::optional<Choice> chosen = RaceBases(options, dataset, {}, quiet);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->kind, "made");
  EXPECT_FALSE(chosen->options.contains("base_race"));
  // Not that of direct connections, and what was given holds.
  const auto hidden = chosen->options.find("base_hidden");
  EXPECT_TRUE(hidden == chosen->options.end() || FormatOption(hidden->second) != "1");
  EXPECT_EQ(FormatOption(chosen->options.at("base_order")), "ascending");
  EXPECT_EQ(chosen->options, RaceBases(options, dataset, {}, quiet)->options);
}

class Listener final : public Observer {
 public:
  void OnNotice(const std::string& text) override { told += text; }
  std::string told;
};

std::string Told(int64_t columns) {
  TrainOptions options = Racing();
  options.network.base.options["base_steps"] = int64_t{1};
  Listener listener;
  RaceBases(options, std::make_shared<Dataset>(DatasetFromRows(Parities(40, columns), options.data, 0)), {},
            listener);
  return listener.told;
}

TEST(RaceBases, WideRowsHaveNoTimeForAMixture) {
  EXPECT_THAT(Told(kColumns), testing::HasSubstr("a mixture of four"));
  EXPECT_THAT(Told(1200), testing::AllOf(testing::HasSubstr("little penalty"),
                                         testing::Not(testing::HasSubstr("mixture"))));
}

TEST(RaceBases, ARunThatIsCutGoesOnToTheSameModel) {
  const TempDir dir;
  const RowTable rows = Parities(600);
  std::string text;
  for (size_t i = 0; i < rows.values.size(); ++i)
    text += std::to_string(rows.values[i]) + ((i + 1) % kColumns == 0 ? "\n" : ",");
  WriteBytes(dir.File("rows.csv"), text);
  TrainOptions options = Racing();
  options.network.base.options["base_steps"] = int64_t{20};
  options.data.data = dir.File("rows.csv");
  options.run.steps = 10;
  Observer quiet;
  TrainInFolder(options, dir.File("whole"), ExistingRun::kRefuse, quiet);
  for (const int64_t steps : {5, 60, 90}) {  // four trials of 20, a base of 20, ten of the network
    SCOPED_TRACE(steps);
    const std::string cut = dir.File("cut" + std::to_string(steps));
    Stopper stopper(steps);
    EXPECT_FALSE(TrainInFolder(options, cut, ExistingRun::kRefuse, stopper).complete);
    TrainOptions again;
    ReadRunOptions(cut).ApplyTo(again);
    EXPECT_TRUE(ResumeInFolder(again, cut, quiet).complete);
    for (const char* file : {"/model.onnx", "/base/best.onnx"})
      EXPECT_TRUE(ReadBytes(cut + file) == ReadBytes(dir.File("whole") + file)) << file;
  }
}

}  // namespace
}  // namespace ort_ed
