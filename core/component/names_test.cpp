// SPDX-License-Identifier: Apache-2.0
// Tests of the words for states and policies, which are part of plans and of the wire format.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/component/component.h"
#include "core/testing/error_of.h"

namespace trainyard {
namespace {

using testing::error_of;

TEST(NamesTest, EveryStateIsFoundByItsName) {
  for (const State state : {State::kUnconfigured, State::kInactive, State::kActive, State::kFinalized, State::kError}) {
    EXPECT_EQ(from_name<State>(name_of(state)), state);
  }
}

TEST(NamesTest, AWordThatIsNoStateIsRefusedWithTheNearest) {
  EXPECT_EQ(error_of([] { from_name<State>("actve"); }).second,
            "unknown component state 'actve'; did you mean 'active'? known: active, error, finalized, inactive, "
            "unconfigured");
}

TEST(NamesTest, EveryPolicyIsFoundByItsName) {
  for (const Policy policy : {Policy::kBlock, Policy::kLatest, Policy::kDropOldest}) {
    EXPECT_EQ(from_name<Policy>(name_of(policy)), policy);
  }
}

TEST(NamesTest, AWordThatIsNoPolicyIsRefusedWithThoseThatAre) {
  EXPECT_EQ(error_of([] { from_name<Policy>("foo"); }).second,
            "unknown edge policy 'foo'; known: block, drop_oldest, latest");
}

}  // namespace
}  // namespace trainyard
