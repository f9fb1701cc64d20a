// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/permissions.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/testing/error_of.h"

namespace trainyard::front_door {
namespace {

using nlohmann::json;

/// Returns the error text for a question of a visitor with this role, or an empty text if the question is allowed.
std::string refusal(core::Role role, const json& question) {
  core::PublicKey visitor;
  visitor.name = "laptop";
  visitor.role = role;
  return testing::error_of([&] { check_permission(visitor, question); }).second;
}

TEST(PermissionsTest, WhoMayWatchMayAskWhatChangesNothing) {
  for (const char* op : {"run", "topics", "nodes", "params"}) {
    EXPECT_EQ(refusal(core::Role::kWatch, {{"op", op}, {"target", "optimizer"}}), "");
  }
  for (const char* method : {"param.list", "param.get", "counters", "pulse"}) {
    EXPECT_EQ(refusal(core::Role::kWatch, {{"op", "call"}, {"method", method}}), "");
  }
}

TEST(PermissionsTest, WhoMayWatchMayAskNothingElse) {
  EXPECT_EQ(refusal(core::Role::kWatch, {{"op", "call"}, {"target", "optimizer"}, {"method", "param.set"}}),
            "'param.set' is refused: the key 'laptop' has the role watch, which may change nothing");
  for (const json& question : std::vector<json>{{{"op", "call"}, {"method", "pause"}},
                                                {{"op", "call"}, {"method", "param.get "}},
                                                {{"op", "call"}, {"method", json::array({"param.get"})}},
                                                {{"op", "call"}},
                                                {{"op", "stop"}},
                                                {{"op", json::array({"run"})}},
                                                json::object()}) {
    EXPECT_NE(refusal(core::Role::kWatch, question), "") << question;
  }
}

TEST(PermissionsTest, WhoMayControlMayAskEverythingThatTheRegistryKnowsButNotPublish) {
  for (const core::Role role : {core::Role::kControl, core::Role::kMember}) {
    EXPECT_EQ(refusal(role, {{"op", "call"}, {"target", "optimizer"}, {"method", "param.set"}}), "");
    EXPECT_EQ(refusal(role, {{"op", "announce"}, {"topic", "/note"}}),
              "'announce' is refused: a visitor from another host cannot publish topics");
    EXPECT_NE(refusal(role, {{"op", "withdraw"}}), "");
  }
}

TEST(PermissionsTest, WhatIsRefusedIsShownWithoutControlCharacters) {
  EXPECT_EQ(
      refusal(core::Role::kWatch, {{"op", "call"}, {"method", "\x1b[2J" + std::string(60, 'x')}}),
      "'?[2J" + std::string(36, 'x') + "' is refused: the key 'laptop' has the role watch, which may change nothing");
}

}  // namespace
}  // namespace trainyard::front_door
