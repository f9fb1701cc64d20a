// SPDX-License-Identifier: Apache-2.0
#include "datasets/my_dataset/my_dataset.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace example {
namespace {

trainyard::DatasetContext context_with(const std::string& parameters) {
  trainyard::DatasetContext context;
  context.where = "dataset 'my_dataset'";
  context.parameters = parameters;
  context.seed = 1;
  return context;
}

/// Reads a sample and returns its four numbers and its class.
std::pair<std::vector<float>, std::int64_t> read(const MyDataset& data, std::uint64_t index) {
  std::vector<float> input(4);
  std::int64_t target = -1;
  const std::array<std::span<std::byte>, 2> fields{std::as_writable_bytes(std::span(input)),
                                                   std::as_writable_bytes(std::span(&target, 1))};
  data.read("train", index, fields);
  return {input, target};
}

TEST(MyDatasetTest, DescribesItsSplitsAndFields) {
  auto context = context_with(R"({"samples": 7, "features": 4})");
  MyDataset data(context);
  data.open();
  const trainyard::DatasetInfo info = data.info();
  EXPECT_EQ(info.splits.at(0).samples, 7u);
  EXPECT_EQ(info.fields.at(0).shape, std::vector<std::int64_t>{4});
  EXPECT_EQ(info.classes, 2u);
}

TEST(MyDatasetTest, GivesTheSameSampleEveryTime) {
  auto context = context_with(R"({"samples": 7, "features": 4})");
  MyDataset data(context);
  data.open();
  EXPECT_EQ(read(data, 3), read(data, 3));
  EXPECT_NE(read(data, 3), read(data, 5));
  EXPECT_EQ(read(data, 3).second, 1);
  EXPECT_THROW(read(data, 7), trainyard::Error);
}

}  // namespace
}  // namespace example
