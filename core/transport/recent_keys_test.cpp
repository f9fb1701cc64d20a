// SPDX-License-Identifier: Apache-2.0
#include "core/transport/recent_keys.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::core {
namespace {

TEST(RecentKeysTest, AKeyIsNewOnceAndAgainWhenItHasBeenForgotten) {
  RecentKeys keys;
  EXPECT_TRUE(keys.is_new("first"));
  EXPECT_FALSE(keys.is_new("first"));
  for (std::size_t i = 0; i + 1 < RecentKeys::kRemembered; ++i) ASSERT_TRUE(keys.is_new(std::to_string(i)));
  EXPECT_FALSE(keys.is_new("first")) << "one of the last kRemembered keys";
  for (std::size_t i = 0; i < RecentKeys::kRemembered; ++i) ASSERT_TRUE(keys.is_new("x" + std::to_string(i)));
  EXPECT_TRUE(keys.is_new("first")) << "the memory is limited";
}

}  // namespace
}  // namespace trainyard::core
