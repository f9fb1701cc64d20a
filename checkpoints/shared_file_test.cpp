// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/shared_file.h"

#include <gtest/gtest.h>

#include "checkpoints/testing/files.h"

namespace trainyard::checkpoints {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string sha256_of(const std::string& text) {
  Sha256 hash;
  hash.add(bytes_of(text));
  return hash.finish();
}

TEST(SharedFileTest, SeveralWritersFillTheFileTogether) {
  const testing::TemporaryDirectory folder;
  const std::string path = folder / "file";
  create_shared_file(path, "head", 12);
  EXPECT_EQ(testing::read_file(path), "head" + std::string(8, '\0'));
  SharedFile one(path), other(path);
  one.write(4, bytes_of("ab"));
  other.write(8, bytes_of("ef"));
  one.write(6, bytes_of("cd"));
  other.write(10, bytes_of("gh"));
  EXPECT_EQ(one.close(), (FileDigest{4, sha256_of("abcd")}));
  EXPECT_EQ(other.close(), (FileDigest{4, sha256_of("efgh")}));
  EXPECT_EQ(testing::read_file(path), "headabcdefgh");
}

TEST(SharedFileTest, RangesInAnyOrderAndOfAnySizeArriveWhereTheyBelong) {
  const testing::TemporaryDirectory folder;
  const std::string path = folder / "file";
  const std::string large((std::size_t{20} << 20) + 3, 'x');
  create_shared_file(path, "", large.size() + 10);
  SharedFile file(path);
  file.write(10, bytes_of(large));
  file.write(5, bytes_of("01234"));
  file.write(0, bytes_of("56789"));
  const FileDigest digest = file.close();
  EXPECT_EQ(digest.bytes, large.size() + 10);
  EXPECT_EQ(digest.sha256, sha256_of(large + "0123456789"));
  EXPECT_EQ(testing::read_file(path), "5678901234" + large);
}

TEST(SharedFileTest, AFileThatExistsIsNotCreatedAndOneThatDoesNotIsNotOpened) {
  const testing::TemporaryDirectory folder;
  const std::string path = folder / "file";
  EXPECT_EQ(testing::error_of([&] { SharedFile file(path); }), "cannot open " + path + ": No such file or directory");
  create_shared_file(path, "", 1);
  EXPECT_EQ(testing::error_of([&] { create_shared_file(path, "", 1); }), "cannot create " + path + ": File exists");
}

}  // namespace
}  // namespace trainyard::checkpoints
