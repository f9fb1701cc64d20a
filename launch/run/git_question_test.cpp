// SPDX-License-Identifier: Apache-2.0
#include "launch/run/git_question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"

namespace trainyard::launch {

using namespace trainyard::testing;
namespace {

namespace fs = std::filesystem;

class GitQuestionTest : public ::testing::Test {
 protected:
  // The git configuration of the user must not affect the test.
  GitQuestionTest() {
    ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
  }
  ~GitQuestionTest() override {
    ::unsetenv("GIT_CONFIG_GLOBAL");
    ::unsetenv("GIT_CONFIG_NOSYSTEM");
  }

  std::string git(std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-C", folder_.path(), "-c", "user.name=a", "-c", "user.email=a@b"});
    const ChildOutput output = run_child(words, std::chrono::seconds(30));
    EXPECT_TRUE(output.succeeded()) << output.errors;
    return output.text.substr(0, output.text.find('\n'));
  }

  /// Asks about the folder, and returns the answer, or an empty optional if there is none before the deadline.
  std::optional<archive::GitState> ask(std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
    std::optional<archive::GitState> answer;
    PollLoop loop;
    bool over = false;
    loop.after(deadline + std::chrono::milliseconds(1), [&] { over = true; });
    const GitQuestion question(loop, folder_.path(), deadline, [&](archive::GitState state) { answer = state; });
    while (!answer && !over) loop.run_once(std::chrono::milliseconds(50));
    return answer;
  }

  TemporaryFolder folder_;
};

TEST_F(GitQuestionTest, FindsTheCommitAndWhetherFilesWereChanged) {
  git({"init", "-q", "-b", "try"});
  folder_.write("a.toml", "one");
  EXPECT_EQ(ask()->commit, "");
  git({"add", "a.toml"});
  git({"commit", "-q", "-m", "first"});
  const archive::GitState clean = *ask();
  EXPECT_EQ(clean.commit, git({"rev-parse", "HEAD"}));
  EXPECT_EQ(clean.branch, "try");
  EXPECT_FALSE(clean.dirty);
  folder_.write("untracked", "x");
  EXPECT_FALSE(ask()->dirty);
  folder_.write("a.toml", "two");
  EXPECT_TRUE(ask()->dirty);
  git({"checkout", "-q", "--detach"});
  EXPECT_EQ(ask()->branch, "");
}

TEST_F(GitQuestionTest, HasNoAnswerOutsideOfARepository) { EXPECT_FALSE(ask(std::chrono::milliseconds(500))); }

TEST_F(GitQuestionTest, HasNoAnswerWithoutGit) {
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", folder_.path().c_str(), 1);
  const auto answer = ask(std::chrono::milliseconds(1));
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(answer);
}

TEST(GitStatusTest, ReadsADirtyTreeWithRenames) {
  const auto state = parse_git_status(
      "# branch.oid 0123\n# branch.head main\n# branch.upstream origin/main\n# branch.ab +1 -0\n"
      "2 R. N... 100644 100644 100644 1 2 R100 b\ta\n");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->commit, "0123");
  EXPECT_TRUE(state->dirty);
  EXPECT_FALSE(parse_git_status("fatal: not a git repository\n"));
}

}  // namespace
}  // namespace trainyard::launch
