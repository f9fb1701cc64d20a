// SPDX-License-Identifier: Apache-2.0
#include "core/files/socket_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SocketFolderTest : public ::testing::Test {
 protected:
  ~SocketFolderTest() override { ::unsetenv("TMPDIR"); }

  testing::TemporaryFolder folder_;
};

TEST_F(SocketFolderTest, IsForThisUserAloneAndIsRemoved) {
  ::setenv("TMPDIR", folder_.path().c_str(), 1);
  std::string path;
  {
    const SocketFolder made("a test");
    path = made.path();
    EXPECT_THAT(path, StartsWith(folder_.path() + "/trainyard_"));
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SocketFolderTest, IsInTmpIfThePathWouldBeTooLongForASocket) {
  ::setenv("TMPDIR", (folder_.path() + "/" + std::string(100, 'x')).c_str(), 1);
  EXPECT_THAT(SocketFolder("a test").path(), StartsWith("/tmp/trainyard_"));
}

TEST_F(SocketFolderTest, ThatCannotBeMadeIsAnErrorWithTheFolderAndTheRemedy) {
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto [code, text] = testing::error_of([] { const SocketFolder made("a test"); });
  EXPECT_EQ(code, Code::kIo);
  EXPECT_THAT(text, HasSubstr("a test: cannot make a folder for sockets in '/no/such/folder': No such file or "
                              "directory; set TMPDIR to"));
}

}  // namespace
}  // namespace trainyard::core
