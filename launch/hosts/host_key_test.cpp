// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "core/keys/key_file.h"
#include "core/testing/temporary_folder.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HostKeyTest : public ::testing::Test {
 protected:
  core::Key make(core::Role role) {
    const core::Key key = core::Key::make("host", role);
    core::write_key_file(path_, key);
    return key;
  }

  std::string error() const {
    return testing::error_of([&] { read_host_key(path_); });
  }

  trainyard::testing::TemporaryFolder folder_;
  std::string path_ = folder_.path("host.key");
};

TEST_F(HostKeyTest, AMembersKeyBecomesThePairOfTheHosts) {
  const core::Key made = make(core::Role::kMember);
  const core::RunKeys read = read_host_key(path_);
  EXPECT_EQ(read.public_key, made.text);
  EXPECT_EQ(read.secret_key, made.secret);
}

TEST_F(HostKeyTest, AKeyOfAVisitorIsRefused) {
  make(core::Role::kControl);
  EXPECT_THAT(error(), HasSubstr("the key has the role control; the hosts of a run need a key with the role member"));
}

TEST_F(HostKeyTest, AFileThatOthersCanReadIsRefused) {
  const core::Key made = make(core::Role::kMember);
  ::chmod(path_.c_str(), 0640);
  EXPECT_THAT(error(), HasSubstr("others may read or write this key"));
  EXPECT_THAT(error(), Not(HasSubstr(made.secret)));
}

TEST_F(HostKeyTest, WithoutAKeyTheErrorTellsHowToMakeOne) {
  EXPECT_THAT(error(), HasSubstr("`trainyard keys new host --role member` makes one"));
}

TEST_F(HostKeyTest, TheLaunchFileComesBeforeTheVariableAndBothBeforeTheKeyFolder) {
  ::setenv("XDG_CONFIG_HOME", "/config", 1);
  ::setenv(kKeyFileVariable, "/by/variable", 1);
  EXPECT_EQ(find_host_key("/by/file"), "/by/file");
  EXPECT_EQ(find_host_key(""), "/by/variable");
  ::unsetenv(kKeyFileVariable);
  EXPECT_EQ(find_host_key(""), "/config/trainyard/keys/host.key");
  ::unsetenv("XDG_CONFIG_HOME");
}

}  // namespace
}  // namespace trainyard::launch
