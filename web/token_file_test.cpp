// SPDX-License-Identifier: Apache-2.0
#include "web/token_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard::web {
namespace {

using ::testing::HasSubstr;

class TokenFileTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.path("token"); }
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path(), std::ios::binary) << text;
    ::chmod(path().c_str(), mode);
  }

  static std::string refusal(const std::string& path) {
    return trainyard::testing::error_of([&] { token_from_file(path); }).second;
  }

  trainyard::testing::TemporaryFolder folder_;
};

TEST_F(TokenFileTest, MakesAFileForThisUserAloneAndReadsItAgain) {
  const std::string token = token_from_file(path());
  EXPECT_EQ(token.size(), 43u);
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(token_from_file(path()), token);
}

TEST_F(TokenFileTest, ReadsATokenThatAUserHasWritten) {
  for (const char* text : {"abcdefghij0123456789", "abcdefghij0123456789\n"}) {
    write(text, 0640);
    EXPECT_EQ(token_from_file(path()), "abcdefghij0123456789");
  }
}

TEST_F(TokenFileTest, RefusesAFileThatEveryUserMayReadOrChange) {
  for (const mode_t mode : {0644, 0602}) {
    write("abcdefghij0123456789", mode);
    EXPECT_THAT(refusal(path()), HasSubstr("every user may read or change it"));
  }
}

TEST_F(TokenFileTest, RefusesWhatIsNoToken) {
  for (const std::string& text : {std::string(), std::string("short"), std::string("abcdefghij 0123456789"),
                                  std::string("abcdefghij0123456789\n\n"), std::string(1000, 'a')}) {
    write(text);
    EXPECT_THAT(refusal(path()), HasSubstr("does not contain a token")) << text;
  }
}

TEST_F(TokenFileTest, SaysWhyAFileCannotBeMadeOrRead) {
  const std::string nowhere = folder_.path("none/token");
  EXPECT_THAT(refusal(nowhere), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal(folder_.path()), HasSubstr("not a file"));
  std::filesystem::create_symlink(folder_.path("target"), path());
  EXPECT_NE(refusal(path()), "");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("target")));
}

}  // namespace
}  // namespace trainyard::web
