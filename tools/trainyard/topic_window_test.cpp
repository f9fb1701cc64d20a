// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/topic_window.h"

#include <gtest/gtest.h>

namespace trainyard::tools {
namespace {

TEST(TopicWindowTest, KeepsTheNewestAndCountsWhatWasMissedOfEachSource) {
  TopicWindow window(3);
  for (const std::uint64_t sequence : {5, 6, 9}) window.add({.source = {0, 1}, .sequence = sequence});
  window.add({.source = {1, 1}, .sequence = 100});
  EXPECT_EQ(window.messages(), 4u);
  EXPECT_EQ(window.missed(), 2u) << "7 and 8; what was sent before the first one was not missed";
  ASSERT_EQ(window.records().size(), 3u);
  EXPECT_EQ(window.records().front().sequence, 6u);
}

TEST(TopicWindowTest, TakesASequenceThatGoesBackForARestart) {
  TopicWindow window(10);
  for (const std::uint64_t sequence : {50, 51, 0, 1}) window.add({.sequence = sequence});
  EXPECT_EQ(window.missed(), 0u);
}

}  // namespace
}  // namespace trainyard::tools
