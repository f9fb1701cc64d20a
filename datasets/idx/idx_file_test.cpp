// SPDX-License-Identifier: Apache-2.0
#include "datasets/idx/idx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "datasets/testing/dataset_testing.h"

namespace trainyard::idx {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TemporaryFolder;
using namespace std::string_literals;

/// Two samples of 2 x 3 bytes: 1 ... 12.
const std::string kGood = "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03\1\2\3\4\5\6\7\10\11\12\13\14"s;

std::string gzipped(const std::string& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb9");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return path;
}

std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(IdxFileTest, ReadsPlainAndGzippedFilesAlike) {
  TemporaryFolder folder;
  for (const std::string& path : {folder.write("plain", kGood), gzipped(folder.path("zipped"), kGood)}) {
    const File file = read_file(path, 1);
    EXPECT_THAT(file.shape, ElementsAre(2, 2, 3));
    EXPECT_THAT(file.bytes, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    EXPECT_EQ(file.samples(), 2u);
    EXPECT_EQ(file.sample_bytes(), 6u);
  }
}

TEST(IdxFileTest, AFileCutOffAnywhereIsNamedWithTheOffset) {
  TemporaryFolder folder;
  for (std::size_t size = 0; size < kGood.size(); ++size) {
    const std::string cut = kGood.substr(0, size);
    for (const std::string& path : {folder.write("plain", cut), gzipped(folder.path("zipped"), cut)}) {
      const auto [code, message] = error_of([&] { read_file(path, 1); });
      EXPECT_EQ(code, Code::kCorrupt) << size;
      EXPECT_THAT(message, StartsWith(path + " at offset ")) << size;
    }
  }
  EXPECT_THAT(error_of([&] { read_file(folder.write("plain", kGood.substr(0, 20)), 1); }).second,
              HasSubstr("at offset 20: the file ends in the data, 4 of 12 bytes are there"));
}

TEST(IdxFileTest, AGzipStreamCutOffOrChangedAnywhereIsCorrupt) {
  TemporaryFolder folder;
  const std::string good = contents(gzipped(folder.path("zipped"), kGood));
  for (std::size_t size = 3; size < good.size(); ++size) {
    const std::string path = folder.write("cut", good.substr(0, size));
    EXPECT_EQ(error_of([&] { read_file(path, 1); }).first, Code::kCorrupt) << size;
  }
  for (std::size_t at = 10; at < good.size();
       ++at) {  // The first ten bytes are the gzip header with the time stamp; changes there do no harm.
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    const std::string path = folder.write("changed", changed);
    EXPECT_EQ(error_of([&] { read_file(path, 1); }).first, Code::kCorrupt) << at;
  }
}

TEST(IdxFileTest, BytesBeyondTheHeadersClaimAreNotRead) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_file(folder.write("longer", kGood + "x"), 1); }).second,
              HasSubstr("at offset 29: there are more bytes than the header says"));
  // A file of 64 KiB that expands to 64 MiB of zeros, although the header claims twelve bytes.
  const std::string bomb = gzipped(folder.path("bomb"), kGood + std::string(64 << 20, '\0'));
  ASSERT_LT(std::filesystem::file_size(bomb), 100'000u);
  EXPECT_THAT(error_of([&] { read_file(bomb, 1); }).second, HasSubstr("at offset 29: there are more bytes"));
}

TEST(IdxFileTest, AClaimThatTheFileCannotBearOutTakesNoMemory) {
  TemporaryFolder folder;
  const std::string claim = "\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s;
  for (const std::string& path : {folder.write("plain", claim), gzipped(folder.path("zipped"), claim)}) {
    EXPECT_THAT(error_of([&] { read_file(path, 1); }).second,
                HasSubstr("says [4294967295, 4294967295, 4294967295], more than the file can hold"));
  }
  EXPECT_THAT(error_of([&] { read_file(folder.write("none", "\0\0\x08\x01\0\0\0\0"s), 1); }).second,
              HasSubstr("at offset 8: the header says [0], which is empty"));
}

TEST(IdxFileTest, GarbageAndOtherElementTypesAreToldApart) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_file(folder.write("png", "\x89PNG...."), 1); }).second,
              HasSubstr("at offset 4: magic word 89 50 4e 47 is not IDX; allowed: 00 00 08"));
  const auto floats = error_of([&] { read_file(folder.write("floats", "\0\0\x0d\x01\0\0\0\1aaaa"s), 1); });
  EXPECT_EQ(floats.first, Code::kUnsupported);
  EXPECT_THAT(floats.second, HasSubstr("element type 0x0d; allowed: 0x08"));
  EXPECT_THAT(error_of([&] { read_file(folder.write("flat", "\0\0\x08\x01\0\0\0\1a"s), 2); }).second,
              HasSubstr("1 dimensions; allowed: 2 to 8"));
}

TEST(IdxFileTest, AMissingFileIsNotFound) {
  TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { read_file(folder.path("nothing"), 1); }).first, Code::kNotFound);
  EXPECT_EQ(error_of([&] { read_file(folder.path(""), 1); }).first, Code::kNotFound);
}

}  // namespace
}  // namespace trainyard::idx
