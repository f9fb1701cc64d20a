// SPDX-License-Identifier: Apache-2.0
#include "core/transport/examination_limit.h"

#include <gtest/gtest.h>

namespace trainyard::core {
namespace {

using namespace std::chrono_literals;

class ExaminationLimitTest : public ::testing::Test {
 protected:
  void examine(bool admitted) {
    ASSERT_TRUE(limit_.may_begin());
    limit_.begin();
    limit_.end(admitted);
  }

  ExaminationLimit limit_{2, 10};
  ExaminationLimit::Clock::time_point now_ = ExaminationLimit::Clock::now() + 1h;
};

TEST_F(ExaminationLimitTest, AnyNumberOfKeysMayBeAdmitted) {
  for (int i = 0; i < 100; ++i) examine(/*admitted=*/true);
  EXPECT_EQ(limit_.running(), 0U);
}

TEST_F(ExaminationLimitTest, FewKeysMayFailAtOnceAndMoreLater) {
  limit_.earn(now_);
  examine(/*admitted=*/false);
  examine(/*admitted=*/false);
  EXPECT_FALSE(limit_.may_begin());
  limit_.earn(now_ + 50ms);
  EXPECT_FALSE(limit_.may_begin());
  limit_.earn(now_ + 110ms);
  examine(/*admitted=*/false);
  EXPECT_FALSE(limit_.may_begin());
  limit_.earn(now_ + 10h);
  examine(/*admitted=*/false);
  examine(/*admitted=*/false);
  EXPECT_FALSE(limit_.may_begin()) << "more is not saved up";
}

TEST_F(ExaminationLimitTest, FewKeysAreExaminedAtTheSameTime) {
  limit_.begin();
  limit_.begin();
  limit_.earn(now_);
  EXPECT_EQ(limit_.running(), 2U);
  EXPECT_FALSE(limit_.may_begin());
  limit_.end(/*admitted=*/true);
  EXPECT_TRUE(limit_.may_begin());
}

}  // namespace
}  // namespace trainyard::core
