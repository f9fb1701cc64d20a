// SPDX-License-Identifier: Apache-2.0
#include "archive/metrics_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard::archive {

using namespace trainyard::testing;
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MetricsReaderTest : public ::testing::Test {
 protected:
  void append(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary | std::ios::app) << text;
  }

  /// Reads the output directory once, and returns the table of the stage.
  MetricsTable read(const std::string& stage, const MetricsLimits& limits = {}) {
    MetricsReader reader(folder_.path(), limits);
    reader.update();
    const MetricsTable* table = reader.find(stage);
    EXPECT_NE(table, nullptr) << stage;
    return table == nullptr ? MetricsTable{} : *table;
  }

  TemporaryFolder folder_;
};

TEST_F(MetricsReaderTest, ReadsTheTablesOfTheLogger) {
  append("metrics_train.csv",
         "step,epoch,time,samples,tokens,loss,lr\r\n"
         "10,0,1732176886.123456,640,5120,2.5,0.001\r\n"
         "20,0,1732176887.000001,1280,10240,2.25,\r\n"
         "30,1,1732176888.5,1920,15360,nan,-inf\r\n");
  append("metrics_validate.csv", "step,epoch,time,samples,loss\r\n30,1,1732176888.6,1920,2.125\r\n");
  MetricsReader reader(folder_.path());
  EXPECT_TRUE(reader.update());
  ASSERT_EQ(reader.tables().size(), 2);
  EXPECT_EQ(reader.tables()[0]->stage, "train");
  EXPECT_EQ(reader.tables()[1]->stage, "validate");
  const MetricsTable& train = *reader.find("train");
  EXPECT_THAT(train.steps, ElementsAre(10, 20, 30));
  EXPECT_THAT(train.samples, ElementsAre(640, 1280, 1920));
  EXPECT_THAT(train.times_ns, ElementsAre(1732176886'123456000, 1732176887'000001000, 1732176888'500000000));
  const Series* loss = train.find("loss");
  ASSERT_NE(loss, nullptr);
  EXPECT_THAT(loss->rows, ElementsAre(0, 1, 2));
  EXPECT_EQ(loss->values[1], 2.25);
  EXPECT_TRUE(std::isnan(loss->values[2]));
  // The row with the empty cell is not in the series.
  EXPECT_THAT(train.find("lr")->rows, ElementsAre(0, 2));
  EXPECT_EQ(train.find("lr")->values[1], -INFINITY);
  EXPECT_THAT(train.find("tokens")->values, ElementsAre(5120, 10240, 15360));
  EXPECT_EQ(train.find("los"), nullptr);
  EXPECT_FALSE(train.torn);
  EXPECT_EQ(train.damaged_lines, 0);
}

TEST_F(MetricsReaderTest, LeavesOutDamagedLinesAndCountsThem) {
  append("metrics_train.csv",
         "step,time,samples,loss\n"
         "1,1.0,1,0.5\n"
         "2,1.0,2\n"              // too few cells
         "3,1.0,3,0.5,9\n"        // too many cells
         "4,1.0,4,0.5x\n"         // not a number
         "-5,1.0,5,0.5\n"         // not a valid step
         "\n"                     // an empty line
         "6,99999999999,6,0.5\n"  // a time out of range
         "7,1.0,7,0.25\n"
         "8,1.0,8,0.");  // an incomplete line, as if the run was killed while it wrote
  const MetricsTable table = read("train");
  EXPECT_THAT(table.steps, ElementsAre(1, 7));
  EXPECT_THAT(table.find("loss")->values, ElementsAre(0.5, 0.25));
  EXPECT_EQ(table.damaged_lines, 6);
  EXPECT_TRUE(table.torn);
}

TEST_F(MetricsReaderTest, ReadsOnlyWhatIsNewAndCompletesATornLine) {
  append("metrics_train.csv", "step,time,samples,loss\n1,1,1,0.5\n2,1,2,0.");
  MetricsReader reader(folder_.path());
  EXPECT_TRUE(reader.update());
  EXPECT_THAT(reader.find("train")->steps, ElementsAre(1));
  EXPECT_FALSE(reader.update());
  append("metrics_train.csv", "25\n3,1,3,0.125\n");
  EXPECT_TRUE(reader.update());
  EXPECT_THAT(reader.find("train")->find("loss")->values, ElementsAre(0.5, 0.25, 0.125));
  EXPECT_FALSE(reader.find("train")->torn);
  // A stage whose file appears later is found, too.
  append("metrics_validate.csv", "step,time,samples,loss\n3,1,3,0.7\n");
  EXPECT_TRUE(reader.update());
  ASSERT_NE(reader.find("validate"), nullptr);
}

TEST_F(MetricsReaderTest, ReadsAFileAgainThatTheLoggerHasReplacedToAddAColumn) {
  append("metrics_train.csv", "step,time,samples,loss\n1,1,1,0.5\n");
  MetricsReader reader(folder_.path());
  reader.update();
  append("wider", "step,time,samples,loss,accuracy\n1,1,1,0.5,\n2,1,2,0.25,0.9\n");
  std::filesystem::rename(folder_.path() + "/wider", folder_.path() + "/metrics_train.csv");
  EXPECT_TRUE(reader.update());
  EXPECT_THAT(reader.find("train")->steps, ElementsAre(1, 2));
  EXPECT_THAT(reader.find("train")->find("accuracy")->rows, ElementsAre(1));
}

TEST_F(MetricsReaderTest, ReadsJsonLinesIfThereAreNoTables) {
  append("metrics.jsonl",
         R"({"kind":"log","time":1.0,"level":"info","component":"a","text":"x"})"
         "\n"
         R"({"kind":"metrics","time":1732176886.5,"stage":"train","step":840,"epoch":2,"samples":100,"unit":"token",)"
         R"("units":800,"values":{"loss":2.5,"grad_norm":null},"not_finite":{"grad_norm":"Infinity"}})"
         "\n"
         R"({"time":1732176887.5,"kind":"metrics","stage":"validate","step":841,"values":{"loss":3}})"
         "\n"
         R"({"kind":"metrics","stage":)"
         "\n");
  const MetricsTable train = read("train");
  EXPECT_THAT(train.steps, ElementsAre(840));
  EXPECT_THAT(train.samples, ElementsAre(100));
  EXPECT_THAT(train.times_ns, ElementsAre(1732176886'500000000));
  EXPECT_THAT(train.find("loss")->values, ElementsAre(2.5));
  EXPECT_THAT(train.find("grad_norm")->values, ElementsAre(INFINITY));
  EXPECT_THAT(train.find("tokens")->values, ElementsAre(800));
  EXPECT_THAT(train.find("epoch")->values, ElementsAre(2));
  EXPECT_EQ(train.damaged_lines, 1);
  // The key "kind" need not come first.
  EXPECT_THAT(read("validate").find("loss")->values, ElementsAre(3));
}

TEST_F(MetricsReaderTest, StopsAtItsLimitsAndSaysSo) {
  append("metrics_train.csv", "step,time,samples,a,b,c\n1,1,1,1,1,1\n2,1,1,2,2,2\n3,1,1,3,3,3\n");
  const MetricsTable few_rows = read("train", {.rows = 2});
  EXPECT_THAT(few_rows.steps, ElementsAre(1, 2));
  EXPECT_TRUE(few_rows.truncated);
  const MetricsTable few_columns = read("train", {.columns = 2});
  EXPECT_EQ(few_columns.series.size(), 2);
  EXPECT_TRUE(few_columns.truncated);
  const MetricsTable few_cells = read("train", {.cells = 4});
  EXPECT_EQ(few_cells.series[0].values.size() + few_cells.series[1].values.size() + few_cells.series[2].values.size(),
            4);
  EXPECT_TRUE(few_cells.truncated);
}

TEST_F(MetricsReaderTest, SkipsALineThatIsTooLong) {
  append("metrics.jsonl", R"({"kind":"metrics","stage":"train","step":1,"values":{}})"
                          "\n");
  append("metrics.jsonl", std::string(5 << 20, 'x') + "\n");
  append("metrics.jsonl", R"({"kind":"metrics","stage":"train","step":2,"values":{}})"
                          "\n");
  const MetricsTable table = read("train");
  EXPECT_THAT(table.steps, ElementsAre(1, 2));
  EXPECT_EQ(table.damaged_lines, 1);
}

TEST_F(MetricsReaderTest, SurvivesDeepNesting) {
  append("metrics.jsonl", std::string(500'000, '[') + "\n" +
                              R"({"kind":"metrics","stage":"train","step":2})"
                              "\n");
  EXPECT_THAT(read("train").steps, ElementsAre(2));
}

TEST_F(MetricsReaderTest, ReadsTheLastRowsOfALongFile) {
  append("metrics_train.csv", "step,time,samples,loss\n");
  for (int i = 1; i <= 1000; ++i) append("metrics_train.csv", std::to_string(i) + ",1,1,0.5\n");
  const MetricsTable table = read("train", {.tail_bytes = 100});
  // A line has at most 13 bytes.
  ASSERT_GE(table.rows(), 6);
  EXPECT_LE(table.rows(), 10);
  EXPECT_EQ(table.steps.back(), 1000);
  EXPECT_EQ(table.damaged_lines, 0);
}

TEST_F(MetricsReaderTest, RefusesWhatIsNoTable) {
  append("notes.csv", "name,age\nada,36\n");
  MetricsReader notes(folder_.path() + "/notes.csv");
  try {
    notes.update();
    ADD_FAILURE() << "it was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("notes.csv: is no table of metrics: its first line names no column 'step'"));
  }
  EXPECT_THROW(MetricsReader(folder_.path() + "/nothing"), Error);
  MetricsReader empty(folder_.path());
  EXPECT_FALSE(empty.update());
  EXPECT_THAT(empty.tables(), IsEmpty());
}

MetricsTable table_of(std::vector<std::uint64_t> steps, std::vector<double> losses) {
  MetricsTable table;
  table.steps = std::move(steps);
  table.times_ns.resize(table.rows());
  Series loss{"loss", {}, std::move(losses)};
  for (std::uint32_t row = 0; row < loss.values.size(); ++row) loss.rows.push_back(row);
  table.series = {loss};
  return table;
}

TEST(MetricsTableTest, ALaterLaunchTakesTheStepsThatItRepeats) {
  // The first launch ran to step 50. The second resumed at step 30 and ran to step 60. The third began from scratch.
  const MetricsTable table = table_of({10, 20, 30, 40, 50, 40, 50, 60, 10, 20}, std::vector<double>(10));
  EXPECT_THAT(rows_in_effect(table), ElementsAre(false, false, false, false, false, false, false, false, true, true));
  const MetricsTable resumed = table_of({10, 20, 30, 40, 50, 40, 50, 60}, std::vector<double>(8));
  EXPECT_THAT(rows_in_effect(resumed), ElementsAre(true, true, true, false, false, true, true, true));
  EXPECT_THAT(rows_in_effect(MetricsTable{}), IsEmpty());
}

TEST(MetricsTableTest, FindsTheBestAndTheLastAmongWhatCounts) {
  const MetricsTable table = table_of({10, 20, 30, 20, 30, 40}, {3, 0.1, 0.2, 2, NAN, 2.5});
  const Series& loss = table.series[0];
  EXPECT_EQ(last_point(table, loss)->value, 2.5);
  EXPECT_EQ(last_point(table, loss)->step, 40);
  // The value 0.1 is in a row that a later launch has replaced.
  EXPECT_EQ(best_point(table, loss, Wanted::kSmallest)->value, 2);
  EXPECT_EQ(best_point(table, loss, Wanted::kSmallest)->step, 20);
  EXPECT_EQ(best_point(table, loss, Wanted::kLargest)->value, 3);
  EXPECT_FALSE(best_point(table, Series{"x", {}, {}}, Wanted::kLargest));
}

}  // namespace
}  // namespace trainyard::archive
