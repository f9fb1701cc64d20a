// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/early_stopping.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainyard::manager {
namespace {

TEST(EarlyStoppingTest, StopsAfterSoManyValidationsWithoutImprovement) {
  EarlyStopping stopping(false, 2, 0);
  EXPECT_TRUE(stopping.update(1.0));
  EXPECT_FALSE(stopping.update(1.0)) << "equal is not better";
  EXPECT_TRUE(stopping.update(0.9));
  EXPECT_FALSE(stopping.update(0.95));
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_FALSE(stopping.update(0.91));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.best(), 0.9);
  EXPECT_EQ(stopping.waited(), 2);
}

TEST(EarlyStoppingTest, LargeCanBeGood) {
  EarlyStopping stopping(true, 1, 0);
  EXPECT_TRUE(stopping.update(0.5));
  EXPECT_TRUE(stopping.update(0.6));
  EXPECT_FALSE(stopping.update(0.55));
  EXPECT_TRUE(stopping.should_stop());
}

TEST(EarlyStoppingTest, SmallGainsDoNotCount) {
  EarlyStopping down(false, 1, 0.25);
  EXPECT_TRUE(down.update(1.0));
  EXPECT_FALSE(down.update(0.75)) << "a gain of exactly min_delta is none";
  EarlyStopping up(true, 1, 0.25);
  EXPECT_TRUE(up.update(1.0));
  EXPECT_TRUE(up.update(1.5));
}

TEST(EarlyStoppingTest, AValueThatIsNotFiniteStopsAtOnce) {
  EarlyStopping stopping(false, 10, 0);
  EXPECT_TRUE(stopping.update(1.0));
  EXPECT_FALSE(stopping.update(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.best(), 1.0);
}

TEST(EarlyStoppingTest, WithoutPatienceItOnlyTellsWhatIsBest) {
  EarlyStopping stopping(false, 0, 0);
  EXPECT_TRUE(stopping.update(1.0));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(stopping.update(2.0));
  EXPECT_FALSE(stopping.update(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(stopping.should_stop());
}

}  // namespace
}  // namespace trainyard::manager
