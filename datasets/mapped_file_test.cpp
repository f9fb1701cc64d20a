// SPDX-License-Identifier: Apache-2.0
#include "datasets/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "datasets/testing/dataset_testing.h"

namespace trainyard {
namespace {

using testing::error_of;
using testing::TemporaryFolder;

std::string text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFileTest, ShowsTheWholeFileAndCanBeMoved) {
  TemporaryFolder folder;
  MappedFile file(folder.write("f", "abc"));
  EXPECT_EQ(text(file), "abc");
  const MappedFile moved(std::move(file));
  EXPECT_EQ(text(moved), "abc");
  EXPECT_EQ(moved.path(), folder.path("f"));
  EXPECT_EQ(MappedFile(folder.write("empty", "")).size(), 0u);
}

TEST(MappedFileTest, WhatIsNoRegularFileIsNotFound) {
  TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);  // Opening the pipe must not wait for a writer.
  for (const char* name : {"nothing", "pipe", "", "nothing/below"}) {
    const auto [code, message] = error_of([&] { MappedFile file(folder.path(name)); });
    EXPECT_EQ(code, Code::kNotFound) << name;
    EXPECT_NE(message.find(folder.path(name)), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace trainyard
