// SPDX-License-Identifier: Apache-2.0
#include "visitors/registry_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/run/testing/launched_run.h"
#include "launch/testing/expect_error.h"
#include "messages/error.h"
#include "visitors/run_info.h"

namespace trainyard::visitors {

using namespace trainyard::testing;
namespace {

using ::testing::HasSubstr;

/// Tests the client with the real registry of a run with imitated processes.
class RegistryClientTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(run_.launcher(), 0) << run_.output(); }

  RegistryClient& client() {
    if (!client_) client_.emplace(context_, visitors::list_runs(run_.base()).at(0).registry);
    return *client_;
  }

  launch::testing::LaunchedRun run_{launch::testing::fake_plan({"{}"})};
  zmq::context_t context_;
  std::optional<RegistryClient> client_;
};

TEST_F(RegistryClientTest, AsksAndCalls) {
  EXPECT_EQ(client().ask("run")["name"], "fake");
  ASSERT_TRUE(launch::testing::eventually([&] { return client().ask("nodes")[0]["state"] == "active"; }));
  EXPECT_EQ(client().call("c0", "anything", {{"a", 1}})["you_said"], R"({"a":1})");
}

TEST_F(RegistryClientTest, ThrowsWhatTheOtherSideRefused) {
  ASSERT_TRUE(launch::testing::eventually([&] { return client().ask("nodes")[0]["state"] == "active"; }));
  EXPECT_EQ(launch::testing::error_of([&] { client().call("c0", "unknown"); }), "no such method");
  try {
    client().call("d0", "anything");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("no component named 'd0'; did you mean 'c0'?"));
  }
}

TEST(CancelledRegistryClientTest, NoLongerWaitsForAnAnswer) {
  zmq::context_t context;
  RegistryClient client(context, "ipc:///tmp/trainyard-nobody-is-here");
  int looks = 0;
  client.cancel_when([&] { return ++looks > 1; });
  try {
    client.call("optimizer", "param.set", {{"name", "lr"}, {"value", 1}});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled) << error.what();
  }
}

}  // namespace
}  // namespace trainyard::visitors
