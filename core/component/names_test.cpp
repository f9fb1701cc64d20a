// SPDX-License-Identifier: Apache-2.0
// The words for states and policies, as they stand in plans and on the wire.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/component/component.h"
#include "core/testing/error_of.h"

namespace trainyard {
namespace {

using testing::error_of;

TEST(NamesTest, EveryStateIsFoundByItsName) {
  for (const State state : {State::kUnconfigured, State::kInactive, State::kActive, State::kFinalized, State::kError}) {
    EXPECT_EQ(state_named(name_of(state)), state);
  }
}

TEST(NamesTest, AWordThatIsNoStateIsRefusedWithTheNearest) {
  EXPECT_EQ(error_of([] { state_named("actve"); }).second,
            "a component has no state 'actve'; did you mean 'active'? known: active, error, finalized, inactive, "
            "unconfigured");
}

TEST(NamesTest, EveryPolicyIsFoundByItsName) {
  for (const Policy policy : {Policy::kBlock, Policy::kLatest, Policy::kDropOldest}) {
    EXPECT_EQ(policy_named(name_of(policy)), policy);
  }
}

TEST(NamesTest, AWordThatIsNoPolicyIsRefusedWithThoseThatAre) {
  EXPECT_EQ(error_of([] { policy_named("foo"); }).second,
            "edge policy 'foo' is not allowed; one of: block, latest, drop_oldest");
}

}  // namespace
}  // namespace trainyard
