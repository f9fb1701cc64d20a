// SPDX-License-Identifier: Apache-2.0
#include "web/files.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::web {
namespace {

TEST(MessageTest, TakesTargetsApart) {
  const Target target = parse_target("/a%20b/c?token=x%3Dy&empty=&bare");
  EXPECT_EQ(target.path, "/a b/c");
  EXPECT_EQ(target.argument("token"), "x=y");
  EXPECT_EQ(target.argument("empty"), "");
  EXPECT_EQ(target.argument("none"), "");
}

TEST(MessageTest, ATargetThatIsNoPathLeadsNowhere) {
  for (const char* text : {"", "*", "http://127.0.0.1/", "/%", "/%2", "/%zz", "/%+1", "/?a=%1"}) {
    EXPECT_EQ(parse_target(text).path, "") << text;
  }
}

TEST(FilesTest, AreFoundByTheirWholePathAndLinksAreNotFollowed) {
  const trainyard::testing::TemporaryFolder folder;
  const std::string secret = folder.write("secret.txt", "secret");
  folder.write("page/index.html", "<p>page");
  folder.write("page/assets/page.js", "run()");
  std::filesystem::create_symlink(secret, folder.path("page/link.txt"));
  const Files files = Files::of_folder(folder.path("page"));
  ASSERT_NE(files.find("/"), nullptr);
  EXPECT_EQ(*files.find("/")->body, "<p>page");
  EXPECT_EQ(files.find("/")->type, "text/html; charset=utf-8");
  ASSERT_NE(files.find("/assets/page.js"), nullptr);
  EXPECT_EQ(files.find("/assets/page.js")->type, "text/javascript; charset=utf-8");
  for (const char* path : {"/link.txt", "/../secret.txt", "/assets/../../secret.txt", "//index.html", "/assets", ""}) {
    EXPECT_EQ(files.find(path), nullptr) << path;
  }
}

TEST(FilesTest, OfAFolderThatDoesNotExistAreAnError) {
  const auto [code, text] = trainyard::testing::error_of([] { Files::of_folder("/nowhere/page"); });
  EXPECT_EQ(code, Code::kNotFound);
  EXPECT_EQ(text, "there is no folder /nowhere/page");
}

}  // namespace
}  // namespace trainyard::web
