// SPDX-License-Identifier: Apache-2.0
#include "core/files/regular_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::core {
namespace {

using ::testing::EndsWith;
using testing::error_of;

class RegularFileTest : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return folder_.path() + "/" + name; }
  std::string refusal(const std::string& of) const {
    return error_of([&] { require_regular_file(of); }).second;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RegularFileTest, AFileIsAcceptedAlsoThroughALink) {
  std::ofstream(path("file")) << "12345";
  ASSERT_EQ(::symlink("file", path("link").c_str()), 0);
  EXPECT_EQ(require_regular_file(path("link")).st_size, 5);
}

TEST_F(RegularFileTest, WhateverCouldHangItsReaderIsRefusedByItsKind) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(refusal(path("fifo")), EndsWith("fifo: is a FIFO, not a file"));
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is a device, not a file");
  EXPECT_THAT(refusal(folder_.path()), EndsWith(": is a folder, not a file"));
}

TEST_F(RegularFileTest, ALinkToItselfIsThereButCannotBeRead) {
  ASSERT_EQ(::symlink("self", path("self").c_str()), 0);
  EXPECT_TRUE(is_there(path("self")));
  EXPECT_FALSE(is_there(path("other")));
  EXPECT_THAT(refusal(path("self")), EndsWith("self: cannot be read: Too many levels of symbolic links"));
}

}  // namespace
}  // namespace trainyard::core
