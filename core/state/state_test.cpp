// SPDX-License-Identifier: Apache-2.0
#include "core/state/state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/testing/error_of.h"

namespace trainyard {
namespace {

RestoredStates restored(std::vector<SavedState> states, std::uint32_t ranks = 2) {
  return {.path = "step-7", .step = 7, .ranks = ranks, .states = std::move(states)};
}

TEST(StateTest, WhatIsSetIsReadBackExactly) {
  StateWriter writer("tally", 0);
  writer.set("third", 1.0 / 3);
  writer.set("none", std::nan(""));
  writer.set("low", -std::numeric_limits<double>::infinity());
  writer.set("count", std::numeric_limits<std::uint64_t>::max());
  writer.set("done", true);
  writer.set("name", "\xff\"x");
  writer.set_json("list", R"([1, {"a": null}])");
  Tensor tensor = Tensor::empty(DType::kFloat32, {2});
  tensor.as<float>()[1] = 5;
  writer.set("moments", tensor);
  const StateReader reader(restored(writer.take()), "tally", 3);
  EXPECT_EQ(reader.number("third"), 1.0 / 3);
  EXPECT_TRUE(std::isnan(reader.number("none")));
  EXPECT_EQ(reader.number("low"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(reader.count("count"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(reader.flag("done"));
  EXPECT_EQ(reader.text("name"), "\xef\xbf\xbd\"x") << "a byte that is not UTF-8 must not make it impossible";
  EXPECT_EQ(reader.json("list"), R"([1,{"a":null}])");
  EXPECT_EQ(reader.tensor("moments").as<float>()[1], 5.0f);
  EXPECT_EQ(reader.step(), 7u);
  EXPECT_EQ(reader.ranks(), 2u);
  EXPECT_TRUE(writer.take().empty()) << "it was taken";
}

TEST(StateTest, WhatBelongsToARankGoesToTheRankOfItsNumber) {
  std::vector<SavedState> all;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    StateWriter writer("noise", rank);
    writer.set("seed", std::uint64_t{10} + rank, StateScope::kRank);
    if (rank == 0) writer.set("step", std::uint64_t{4});
    for (SavedState& state : writer.take()) all.push_back(std::move(state));
  }
  EXPECT_EQ(StateReader(restored(all), "noise", 1).count("seed"), 11u);
  EXPECT_EQ(StateReader(restored(all), "noise", 1).count("step"), 4u) << "it is the same on all ranks";
  const StateReader fresh(restored(all), "noise", 2);
  EXPECT_FALSE(fresh.has("seed")) << "a rank that the run did not have";
  EXPECT_TRUE(fresh.has("step"));
  EXPECT_TRUE(StateReader(restored(all), "other", 0).empty());
}

TEST(StateTest, AnErrorNamesTheCheckpointTheOwnerAndTheValue) {
  StateWriter writer("tally", 0);
  writer.set("name", "x");
  writer.set("moments", Tensor::empty(DType::kFloat32, {2}));
  const StateReader reader(restored(writer.take()), "tally", 0);
  const auto text = [](const auto& action) { return testing::error_of(action).second; };
  EXPECT_EQ(text([&] { reader.count("total"); }), "step-7: the state of 'tally' has no value 'total'");
  EXPECT_EQ(text([&] { reader.count("name"); }),
            "step-7: the state of 'tally': 'name' is \"x\"; a whole number of at least 0 is allowed");
  EXPECT_EQ(text([&] {
              reader.tensor("moments", DType::kFloat64, {2, 1});
            }),
            "step-7: the state of 'tally': tensor 'moments' is float32 of shape [2], this run's is float64 of shape "
            "[2, 1]");
  EXPECT_EQ(text([] { StateReader(restored({{.owner = "a", .values = "[1]"}}), "a", 0); }),
            "step-7: the state of 'a': the values are no JSON object");
}

}  // namespace
}  // namespace trainyard
