// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/activation.h"

#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

using Order = std::vector<std::uint32_t>;

Order order(std::size_t components, const std::vector<Link>& links) { return activation_order(components, links); }

TEST(ActivationTest, ReceiversComeBeforeSenders) { EXPECT_EQ(order(3, {{0, 1}, {1, 2}}), (Order{2, 1, 0})); }

TEST(ActivationTest, IndependentComponentsGoByIndex) { EXPECT_EQ(order(3, {}), (Order{0, 1, 2})); }

TEST(ActivationTest, ADiamondEndsWithItsSource) {
  EXPECT_EQ(order(4, {{3, 1}, {3, 2}, {1, 0}, {2, 0}}), (Order{0, 1, 2, 3}));
}

TEST(ActivationTest, SeveralEdgesBetweenTwoCountOnce) {
  EXPECT_EQ(order(3, {{0, 1}, {0, 1}, {0, 1}, {1, 0}, {2, 0}}), (Order{0, 1, 2}));
}

TEST(ActivationTest, ARingIsBrokenAtTheLowestIndex) { EXPECT_EQ(order(3, {{0, 1}, {1, 2}, {2, 0}}), (Order{0, 2, 1})); }

TEST(ActivationTest, InARingTheOneThatReceivesMostGoesFirst) {
  // Components 0 and 1 send to each other, and 2 and 3 send to 1. So 1 has three senders and one receiver.
  EXPECT_EQ(order(4, {{0, 1}, {1, 0}, {2, 1}, {3, 1}, {0, 2}, {0, 3}}).front(), 1u);
}

TEST(ActivationTest, NobodyWaitsForItself) { EXPECT_EQ(order(2, {{0, 0}, {1, 0}}), (Order{0, 1})); }

TEST(ActivationTest, RunWideLinksYield) {
  EXPECT_EQ(order(2, {{0, 1}, {1, 0, true}}), (Order{1, 0}));
  EXPECT_EQ(order(2, {{0, 1, true}, {1, 0}}), (Order{0, 1}));
}

TEST(ActivationTest, TheTrainingLoopBeginsWithTheLoggerAndEndsWithTheLoader) {
  // The components are 0 host, 1 writer, 2 loader, 3 logger, 4 optimizer, 5 manager.
  const Order result = order(6, {{2, 0},
                                 {2, 5},
                                 {5, 2, true},
                                 {5, 0, true},
                                 {0, 5, true},
                                 {0, 4},
                                 {4, 0},
                                 {0, 1},
                                 {4, 1},
                                 {1, 0},
                                 {1, 5, true},
                                 {0, 3, true},
                                 {4, 3, true}});
  EXPECT_EQ(result, (Order{3, 5, 0, 1, 4, 2}));
}

}  // namespace
}  // namespace trainyard::launch
