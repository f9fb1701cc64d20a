// SPDX-License-Identifier: Apache-2.0
#include "visitors/door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/keys/key_folder.h"
#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "core/transport/frames.h"
#include "messages/error.h"

namespace trainyard::visitors::testing {
namespace {

using core::Key;
using core::KeyFolder;
using core::Role;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using trainyard::testing::error_of;

/// A user with a folder of keys, which is empty at first.
class DoorTest : public ::testing::Test {
 protected:
  DoorTest() { ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); }
  ~DoorTest() override { ::unsetenv("XDG_CONFIG_HOME"); }

  std::pair<Code, std::string> refusal(const std::string& address) const {
    return error_of([&] { run_at_door(address); });
  }

  trainyard::testing::TemporaryFolder folder_;
};

TEST_F(DoorTest, AnAddressNamesTheKeyOfTheVisitor) {
  EXPECT_TRUE(is_door("laptop@tcp://node7:7401"));
  EXPECT_FALSE(is_door("tcp://127.0.0.1:7401"));
  EXPECT_FALSE(is_door("ipc:///run/user/1000/registry"));
  for (const char* wrong : {"laptop@tcp://", "laptop@tcp://node7", "laptop@tcp://:7401", "@tcp://node7:7401",
                            "laptop@tcp://node7:port", "laptop@tcp://node7:123456"}) {
    EXPECT_EQ(refusal(wrong).second,
              std::string("'") + wrong + "' is not the address of a run; it has the form KEY@tcp://HOST:PORT");
  }
}

TEST_F(DoorTest, WithoutKeysNobodyIsAsked) {
  EXPECT_THAT(refusal("tcp://127.0.0.1:1").second, StartsWith("no key of a visitor in "));
  EXPECT_THAT(refusal("laptop@tcp://127.0.0.1:1").second, StartsWith("no key of your own named 'laptop' in "));
  KeyFolder().add(Key::make("laptop", Role::kWatch));
  EXPECT_THAT(refusal("laptop@tcp://127.0.0.1:1").second, StartsWith("the key of no host is known in "));
  KeyFolder().add(Key::make("desk", Role::kControl));
  EXPECT_THAT(refusal("tcp://127.0.0.1:1").second, HasSubstr("where KEY is the name of your key (desk, laptop)"));
  core::PublicKey one = Key::make("one", Role::kMember);
  core::PublicKey two = Key::make("two", Role::kMember);
  KeyFolder().add(one);
  KeyFolder().add(two);
  EXPECT_THAT(refusal("laptop@tcp://node7:1").second, StartsWith("no key is named 'node7' in "));
}

TEST_F(DoorTest, WithoutAKeyOnlySocketsOfThisHostAreConnected) {
  zmq::context_t context;
  zmq::socket_t socket = core::make_socket(context, zmq::socket_type::dealer);
  EXPECT_EQ(error_of([&] { connect_visitor(socket, "tcp://10.0.0.1:5"); }).first, Code::kUnsupported);
  EXPECT_NO_THROW(connect_visitor(socket, "tcp://127.0.0.1:1"));
}

}  // namespace
}  // namespace trainyard::visitors::testing
