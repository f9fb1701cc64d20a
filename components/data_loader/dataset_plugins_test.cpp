#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/data_loader/data_loader.h"
#include "core/testing/rig.h"
#include "datasets/testing/dataset_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::real_data;
using testing::Rig;
using testing::TemporaryFolder;

/// What configuring a loader with this dataset throws.
std::string refusal(const std::string& dataset) {
  return error_of([&] {
           Rig rig;
           rig.add<DataLoader>("data_loader", fmt::format(R"({{"dataset": {}}})", dataset));
           rig.start();
         })
      .second;
}

TEST(DatasetPluginsTest, ADatasetIsLoadedByNameAndGetsItsParameters) {
  Rig rig;
  rig.add<DataLoader>("data_loader",
                      R"({"dataset": {"plugin": "synthetic", "samples": 640, "features": 12}, "batch_size": 64})");
  rig.start();
  rig.send("/orders", Order{.id = 1, .kind = "train", .batches = 10});
  rig.run_until([&] { return rig.received<Batch>("batches").size() == 10; });
  const auto batches = rig.received<Batch>("batches");
  EXPECT_THAT(batches[9]->tensors[0].shape, ElementsAre(64, 12));
  EXPECT_THAT(batches[9]->tensors[1].shape, ElementsAre(64));
  EXPECT_EQ(rig.received<DatasetInfo>("dataset")[0]->classes, 10u);
  rig.stop();
}

TEST(DatasetPluginsTest, MistakesInTheDatasetsPartOfALaunchFileAreNamed) {
  EXPECT_THAT(refusal(R"({"plugin": "synthetic", "sample": 5})"), HasSubstr("samples"));
  EXPECT_THAT(refusal(R"({"plugin": "synthetic", "samples": 0})"),
              HasSubstr("dataset 'synthetic' of component 'data_loader': samples: 0 is not allowed"));
  EXPECT_THAT(refusal(R"("synthetics")"), HasSubstr("no dataset named 'synthetics'"));
  EXPECT_THAT(refusal(R"({"plugin": "text"})"), HasSubstr("the parameter 'path' must be given"));
  EXPECT_THAT(refusal(R"({"plugin": "text", "path": "/nowhere/at/all"})"), HasSubstr("/nowhere/at/all"));
}

TEST(DatasetPluginsTest, TextWithReplacementIsDrawnFromEveryPartOfTheTrainingText) {
  const std::string path = real_data("tinyshakespeare/input.txt");
  if (path.empty()) GTEST_SKIP() << "set TRAINYARD_TEST_DATA to a folder with tinyshakespeare/input.txt";
  Rig rig;
  rig.add<DataLoader>("data_loader", fmt::format(R"({{"dataset": {{"plugin": "text", "path": "{}"}}, "batch_size": 12,
      "sampling": "replacement", "evaluation_sampling": "replacement"}})",
                                                 path));
  rig.start();
  rig.send("/orders", Order{.id = 1, .kind = "train", .batches = 20});
  rig.send("/orders", Order{.id = 2, .kind = "evaluate", .split = "validate", .batches = 20});
  rig.run_until([&] { return rig.received<Batch>("batches").size() == 40; });
  for (const auto& batch : rig.received<Batch>("batches")) {
    const auto input = batch->tensors[0].as<std::int64_t>();
    const auto target = batch->tensors[1].as<std::int64_t>();
    for (std::size_t i = 0; i + 1 < input.size(); ++i) {
      const bool row_ends = i % 64 == 63;
      ASSERT_TRUE(row_ends || input[i + 1] == target[i]);
    }
  }
  rig.stop();
}

}  // namespace
}  // namespace trainyard
