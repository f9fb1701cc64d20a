// SPDX-License-Identifier: Apache-2.0
#include "components/logger/append_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "components/logger/test_files.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using testing::read_file;
using testing::TemporaryDirectory;
using testing::write_file;

TEST(AppendFileTest, WritesNothingBeforeItIsFlushed) {
  TemporaryDirectory directory;
  AppendFile file(directory / "a/b/f");
  file.buffer() += "one\n";
  EXPECT_EQ(read_file(directory / "a/b/f"), "");
  file.flush();
  file.buffer() += "two\n";
  file.flush();
  file.flush();  // Writes nothing, because the buffer is empty.
  EXPECT_EQ(read_file(directory / "a/b/f"), "one\ntwo\n");
}

TEST(AppendFileTest, AppendsToWhatIsThere) {
  TemporaryDirectory directory;
  write_file(directory / "f", "old\n");
  AppendFile file(directory / "f");
  file.buffer() += "new\n";
  file.flush();
  EXPECT_EQ(read_file(directory / "f"), "old\nnew\n");
}

TEST(AppendFileTest, ADiskThatIsFullIsNamedAndWhatCouldNotBeWrittenIsGivenUp) {
  TemporaryDirectory directory;
  AppendFile file(directory / "f");
  file.buffer().assign(10'000, 'x');
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{4096, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::string message;
  try {
    file.flush();
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, "cannot write to " + (directory / "f") + ": File too large");
  EXPECT_TRUE(file.buffer().empty());
}

TEST(DropTornLineTest, CutsBehindTheLastLineFeed) {
  TemporaryDirectory directory;
  const auto after = [&](const std::string& text) {
    write_file(directory / "f", text);
    drop_torn_line(directory / "f");
    return read_file(directory / "f");
  };
  EXPECT_EQ(after("one\ntwo\n"), "one\ntwo\n");
  EXPECT_EQ(after("one\ntw"), "one\n");
  EXPECT_EQ(after("one"), "");
  EXPECT_EQ(after("\n"), "\n");
  EXPECT_EQ(after(""), "");
}

TEST(DropTornLineTest, AFileThatIsNotThereStaysSo) {
  TemporaryDirectory directory;
  drop_torn_line(directory / "none");
  EXPECT_FALSE(std::filesystem::exists(directory / "none"));
}

}  // namespace
}  // namespace trainyard
