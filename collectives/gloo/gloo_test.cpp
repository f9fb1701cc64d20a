// SPDX-License-Identifier: Apache-2.0
#include "collectives/gloo/gloo.h"

#include <gtest/gtest.h>

#include "collectives/gloo/store.h"
#include "collectives/testing/contract.h"
#include "collectives/testing/ranks.h"
#include "core/plugin/loader.h"
#include "core/testing/error_of.h"

namespace trainyard::collectives {
namespace {

// collectives/contract_test.cpp tests the requirements for every collective; this file tests what is special about
// Gloo.
TEST(GlooTest, ReducesInTypesThatGlooLacks) {
  const auto ends = trainyard::testing::run_threads(2, [](std::uint32_t rank, core::Rendezvous& notes) {
    CollectiveContext context;
    context.where = "the test";
    context.parameters = "{}";
    context.rendezvous = &notes;
    context.rank = rank;
    context.name = "world";
    context.ranks = {0, 1};
    Gloo group(context);
    group.connect();
    std::vector<std::int16_t> values{static_cast<std::int16_t>(30'000 + rank), static_cast<std::int16_t>(-5 * rank)};
    group.all_reduce({values.data(), DType::kInt16, 2}, ReduceOp::kMean).wait();
    return fmt::format("{} {}", values[0], values[1]);
  });
  for (const auto& end : ends) EXPECT_EQ(end.text, "30000 -2");
}

TEST(GlooTest, NotesAreAllThatGloosStoreCanDo) {
  const auto notes = core::make_local_rendezvous();
  NoteStore store(*notes, "world/gloo/", std::chrono::milliseconds(100));
  store.set("0 1", std::vector<uint8_t>{1, 2});
  EXPECT_EQ(store.get("0 1"), (std::vector<uint8_t>{1, 2}));
  EXPECT_TRUE(store.check({"0 1"}));
  EXPECT_FALSE(store.check({"0 1", "2"}));
  EXPECT_EQ(trainyard::testing::error_of([&] { store.add("0", 1); }).first, Code::kUnsupported);
}

}  // namespace
}  // namespace trainyard::collectives
