// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/sha256.h"

#include <gtest/gtest.h>

#include "checkpoints/durable_file.h"
#include "checkpoints/testing/files.h"

namespace trainyard::checkpoints {
namespace {

using testing::error_of;
using testing::TemporaryDirectory;

// The hashes of "abc" (FIPS 180-2, appendix B) and of the empty text.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(Sha256Test, AgreesWithTheStandardsExamples) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span("a", 1)));
  hash.add(std::as_bytes(std::span("bc", 2)));
  EXPECT_EQ(hash.finish(), kAbc);
  EXPECT_EQ(Sha256().finish(), kEmpty);
}

TEST(Sha256Test, AFileWrittenDurablyHasTheDigestOfItsBytes) {
  TemporaryDirectory directory;
  DurableFile file(directory / "f");
  file.write("a");
  file.write("bc");
  EXPECT_EQ(file.close(), (FileDigest{3, kAbc}));
  EXPECT_EQ(digest_file(directory / "f"), (FileDigest{3, kAbc}));
}

TEST(Sha256Test, HexReadsBack) {
  const std::vector<std::uint8_t> bytes = {0, 1, 0xab, 0xff};
  EXPECT_EQ(to_hex(bytes), "0001abff");
  EXPECT_EQ(from_hex("0001abff", "here"), bytes);
}

TEST(Sha256Test, WhatIsNoHexIsRefused) {
  EXPECT_EQ(error_of([] { from_hex("abc", "run.json"); }),
            "run.json: 3 characters that are not pairs of the digits 0-9a-f");
  EXPECT_NE(error_of([] { from_hex("0g", "run.json"); }), "");
}

TEST(DurableFileTest, NeverWritesOverAFile) {
  TemporaryDirectory directory;
  testing::write_file(directory / "f", "precious");
  EXPECT_EQ(error_of([&] { DurableFile file(directory / "f"); }),
            "cannot create " + (directory / "f") + ": File exists");
  EXPECT_EQ(testing::read_file(directory / "f"), "precious");
}

TEST(InputFileTest, RefusesWhatIsNoRegularFile) {
  TemporaryDirectory directory;
  EXPECT_EQ(error_of([&] { InputFile file(directory.path()); }),
            "cannot read " + directory.path() + ": it is not a regular file");
  EXPECT_EQ(error_of([&] { InputFile file(directory / "none"); }), "there is no file " + (directory / "none"));
}

TEST(InputFileTest, AFileThatShrankIsAnErrorNotAShortRead) {
  TemporaryDirectory directory;
  testing::write_file(directory / "f", "0123456789");
  const InputFile file(directory / "f");
  std::filesystem::resize_file(directory / "f", 4);
  std::byte bytes[10];
  EXPECT_EQ(error_of([&] { file.read(0, bytes); }), (directory / "f") + " ends at byte 4; 6 more were expected");
}

}  // namespace
}  // namespace trainyard::checkpoints
