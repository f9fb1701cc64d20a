// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/keys/allow_list.h"
#include "core/keys/key_file.h"
#include "core/keys/key_folder.h"
#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::core {
namespace {

using ::testing::EndsWith;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

class KeyFileTest : public ::testing::Test {
 protected:
  KeyFileTest() { write_key_file(path_, key_); }

  /// Returns the error with which the file is refused, after checking that it does not contain the secret.
  std::string refusal(const std::string& path) const {
    const std::string error = error_of([&] { read_key_file(path); }).second;
    EXPECT_THAT(error, Not(HasSubstr(key_.secret)));
    return error;
  }

  testing::TemporaryFolder folder_;
  Key key_ = Key::make("laptop", Role::kWatch);
  std::string path_ = folder_.path("laptop.key");
};

TEST_F(KeyFileTest, IsReadAsItWasWrittenAndIsForItsOwnerAlone) {
  const mode_t before = ::umask(0);
  write_key_file(folder_.path("second.key"), key_);
  ::umask(before);
  EXPECT_EQ(mode_of(folder_.path("second.key")), 0600u);
  const Key read = read_key_file(folder_.path("second.key"));
  EXPECT_EQ(read.name, "laptop");
  EXPECT_EQ(read.role, Role::kWatch);
  EXPECT_EQ(read.text, key_.text);
  EXPECT_EQ(read.secret, key_.secret);
}

TEST_F(KeyFileTest, IsNeverOverwritten) {
  EXPECT_EQ(error_of([&] { write_key_file(path_, Key::make("other", Role::kControl)); }),
            std::pair(Code::kInvalidArgument, path_ + ": exists already; a key is never overwritten"));
  EXPECT_EQ(read_key_file(path_).text, key_.text);
}

TEST_F(KeyFileTest, ThatOthersMayReadOrWriteIsRefused) {
  for (const mode_t mode : {0640u, 0604u, 0620u, 0602u, 0610u}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(refusal(path_), fmt::format("{}: others may read or write this key (mode {:o}); use `chmod 600`, and a "
                                          "new key if somebody may have read it",
                                          path_, mode));
  }
  ASSERT_EQ(::chmod(path_.c_str(), 0400), 0);
  EXPECT_EQ(refusal(path_), "");
}

TEST_F(KeyFileTest, InAFolderWhereOthersCouldReplaceItIsRefused) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_EQ(refusal(path_),
            folder_.path() + ": others may replace the keys in this folder (mode 777); use `chmod 700`");
  ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
  EXPECT_EQ(refusal(path_), "") << "in a sticky folder, only its owner can replace a file";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_EQ(refusal(path_), "");
}

TEST_F(KeyFileTest, MayBeALinkWithinItsFolderButNotOutOfIt) {
  fs::create_directory(folder_.path("..data"));
  fs::permissions(folder_.path("..data"), fs::perms::owner_all);
  fs::rename(path_, folder_.path("..data/laptop.key"));
  fs::create_symlink("..data/laptop.key", path_);
  EXPECT_EQ(refusal(path_), "");
  fs::permissions(folder_.path("..data"), fs::perms::all);
  EXPECT_THAT(refusal(path_), HasSubstr("others may replace the keys in this folder"));
  testing::TemporaryFolder elsewhere;
  const std::string target = elsewhere.path("k");
  write_key_file(target, key_);
  fs::create_symlink(target, folder_.path("link.key"));
  EXPECT_THAT(refusal(folder_.path("link.key")), HasSubstr("out of its folder; name that file instead"));
}

TEST_F(KeyFileTest, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(path_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(refusal(path_), path_ + ": belongs to user 12345; a key must belong to you (user 0) or to root");
}

TEST_F(KeyFileTest, ThatIsNoneIsRefused) {
  EXPECT_EQ(refusal(folder_.path("none")),
            folder_.path("none") + ": there is no such key file; `trainyard keys new NAME` makes a key");
  EXPECT_THAT(refusal(folder_.path()), HasSubstr("is not a file"));
  ASSERT_EQ(::mkfifo(folder_.path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(refusal(folder_.path("fifo")), EndsWith("is not a file, so it cannot be a key file"));
}

TEST_F(KeyFileTest, WithOtherContentIsRefusedWithoutShowingIt) {
  const std::string good = text_of(path_);
  const auto with = [&](const std::string& text) {
    std::ofstream(path_) << text;
    return refusal(path_);
  };
  EXPECT_EQ(with(""), path_ + ": does not begin with \"trainyard-key-file 1\"");
  EXPECT_EQ(with(std::string(5000, 'x')), path_ + ": has 5000 bytes; a key file has at most 4096");
  EXPECT_EQ(with(good.substr(0, good.find("public"))), path_ + ": a line \"public ...\" is missing");
  const std::string other = Key::make("other", Role::kWatch).text;
  std::string swapped = good;
  swapped.replace(swapped.find(key_.text), 40, other);
  EXPECT_TRUE(with(swapped).starts_with(path_ + ": the secret key does not belong to the public key '"));
  std::string short_secret = good;
  short_secret.erase(short_secret.find(key_.secret), 3);
  EXPECT_EQ(with(short_secret), path_ + ": a key of 37 characters was given; 40 characters of Z85 are needed");
  std::string role = good;
  role.replace(role.find("watch"), 5, "wach");
  EXPECT_THAT(with(role), HasSubstr("no role 'wach'; did you mean 'watch'?"));
}

TEST(PublicKeyTest, TravelsAsALine) {
  const Key key = Key::make("laptop", Role::kControl);
  EXPECT_EQ(key.line(), "trainyard-key laptop control " + key.text);
  const PublicKey read = PublicKey::read(key.line() + "\n");
  EXPECT_EQ(read.name, "laptop");
  EXPECT_EQ(read.role, Role::kControl);
  EXPECT_EQ(read.text, key.text);
  EXPECT_EQ(read.fingerprint(), key.fingerprint());
  EXPECT_EQ(key.fingerprint().size(), 19u);
}

TEST(PublicKeyTest, RefusesWhatIsNoLineOfAKey) {
  const auto refusal = [](const std::string& line) { return error_of([&] { PublicKey::read(line); }).second; };
  EXPECT_THAT(refusal("ssh-ed25519 AAAA me"), HasSubstr("not the line of a key"));
  EXPECT_THAT(refusal(Key::make("a", Role::kWatch).line() + " more"), HasSubstr("not the line of a key"));
  EXPECT_EQ(refusal("trainyard-key ../up watch x"),
            "'../up' cannot name a key; a name has 1 to 64 letters, digits, '_', '-' and '.', and begins with neither "
            "'-' nor '.'");
  EXPECT_THAT(refusal("trainyard-key a watch " + std::string(40, '"')), HasSubstr("40 characters of Z85 are needed"));
}

TEST(AllowListTest, FindsKeysInBothForms) {
  const Key watch = Key::make("laptop", Role::kWatch);
  const Key control = Key::make("desk", Role::kControl);
  const AllowList list = AllowList::read("# visitors\n\n" + watch.line() + "\n" + control.line() + "\n", "list");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.find(watch.text)->name, "laptop");
  EXPECT_EQ(list.find_bytes(key_bytes(control.text))->role, Role::kControl);
  EXPECT_EQ(list.find(Key::make("x", Role::kWatch).text), nullptr);
  EXPECT_EQ(list.find("nonsense"), nullptr);
}

TEST(AllowListTest, RefusesAKeyWithTwoRolesAndSaysWhere) {
  Key key = Key::make("laptop", Role::kWatch);
  const std::string first = key.line();
  key.role = Role::kControl;
  key.name = "again";
  EXPECT_EQ(error_of([&] { AllowList::read(first + "\n" + key.line(), "allowed"); }).second,
            "allowed:2: the keys 'laptop' and 'again' are the same; a key is admitted once");
}

TEST(KeyFolderTest, KeepsOwnKeysAndThoseOfOthers) {
  const testing::TemporaryFolder parent;
  const KeyFolder keys(parent.path("config/keys"));
  EXPECT_TRUE(keys.own_names().empty());
  const Key own = Key::make("desk", Role::kMember);
  const PublicKey other = Key::make("laptop", Role::kWatch);
  EXPECT_EQ(keys.add(own), keys.own_path("desk"));
  EXPECT_EQ(keys.add(other), keys.public_path("laptop"));
  EXPECT_EQ(mode_of(keys.path()), 0700u);
  EXPECT_EQ(keys.own("desk").secret, own.secret);
  EXPECT_EQ(keys.find("desk").text, own.text);
  EXPECT_EQ(keys.find("laptop").text, other.text);
  EXPECT_THAT(keys.own_names(), ::testing::ElementsAre("desk"));
  EXPECT_THAT(keys.public_names(), ::testing::ElementsAre("laptop"));
  EXPECT_EQ(error_of([&] { keys.own("dsek"); }).second,
            "no key of your own named 'dsek' in " + keys.path() + "; did you mean 'desk'? known: desk");
  EXPECT_THAT(error_of([&] { keys.add(Key::make("laptop", Role::kWatch)); }).second,
              HasSubstr("there is a key 'laptop' already"));
}

TEST(KeyFolderTest, ThatOthersMayUseIsRefused) {
  const testing::TemporaryFolder parent;
  const KeyFolder keys(parent.path("keys"));
  keys.add(Key::make("desk", Role::kMember));
  ASSERT_EQ(::chmod(keys.path().c_str(), 0750), 0);
  const std::string error = keys.path() + ": others may use this folder of keys (mode 750); use `chmod 700`";
  EXPECT_EQ(error_of([&] { keys.own("desk"); }).second, error);
  EXPECT_EQ(error_of([&] { keys.add(Key::make("b", Role::kMember)); }).second, error);
}

}  // namespace
}  // namespace trainyard::core
