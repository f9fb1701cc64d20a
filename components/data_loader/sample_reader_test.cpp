// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/sample_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/data_loader/data_loader_testing.h"
#include "messages/tensor.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::Numbers;

/// A transform that appends one byte to its input: a random number, or 9 in an evaluation. So the shape [3] becomes
/// [4], and so on.
class Append final : public Transform {
 public:
  explicit Append(TransformContext& context) : Transform(context) {}
  DatasetField prepare(const DatasetField& input) override {
    DatasetField output = input;
    output.shape = {input.shape.at(0) + 1};
    return output;
  }
  void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const override {
    std::copy(input.begin(), input.end(), output.begin());
    output.back() = static_cast<std::byte>(random == nullptr ? 255 : random->below(250));
  }
};

class SampleReaderTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Transform> append(const std::string& field = "bytes") {
    TransformContext context;
    context.where = "transform 'append'";
    context.parameters = R"({"field": ")" + field + "\"}";
    return std::make_unique<Append>(context);
  }
  SampleReader reader(int transforms, std::uint64_t seed = 1) {
    SampleReader made(numbers_, seed);
    for (int i = 0; i < transforms; ++i) made.add(append());
    return made;
  }
  /// Returns the bytes of the second field of a sample.
  static std::vector<int> read(const SampleReader& from, const SampleChoice& which) {
    std::vector<Tensor> tensors;
    std::vector<std::span<std::byte>> spans;
    for (const DatasetField& field : from.fields()) {
      tensors.push_back(Tensor::empty(static_cast<DType>(field.dtype), field.shape));
      spans.push_back(tensors.back().buffer.bytes());
    }
    SampleReader::Scratch scratch;
    from.read(which, spans, scratch);
    EXPECT_EQ(tensors[0].as<std::int64_t>()[0], static_cast<std::int64_t>(which.index));
    return {tensors[1].as<std::uint8_t>().begin(), tensors[1].as<std::uint8_t>().end()};
  }

  DatasetContext context_;
  Numbers numbers_{context_, std::make_shared<Numbers::Control>()};
};

TEST_F(SampleReaderTest, WithoutTransformsSamplesAreTheDatasets) {
  EXPECT_THAT(read(reader(0), {"train", 7, 0, true}), ElementsAre(7, 7, 7));
}

TEST_F(SampleReaderTest, TransformsFollowOneAnotherAndFieldsTellTheResult) {
  const SampleReader three = reader(3);
  EXPECT_THAT(three.fields()[1].shape, ElementsAre(6));
  EXPECT_TRUE(three.fields()[0].shape.empty());
  EXPECT_THAT(read(three, {"train", 7, 0, false}), ElementsAre(7, 7, 7, 255, 255, 255));
}

TEST_F(SampleReaderTest, ChanceDependsOnSeedSplitEpochSampleAndPlaceInTheListAndOnNothingElse) {
  const SampleReader two = reader(2);
  const auto drawn = [](const SampleReader& from, const SampleChoice& which) {
    const std::vector<int> bytes = read(from, which);
    return std::vector<int>(bytes.begin() + 3, bytes.end());
  };
  const SampleChoice which{"train", 7, 3, true};
  const std::vector<int> first = drawn(two, which);
  read(two, {"train", 8, 3, true});
  EXPECT_EQ(drawn(two, which), first);
  EXPECT_EQ(drawn(reader(2), which), first);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(drawn(reader(2, 2), which), first);
  EXPECT_NE(drawn(two, {"validate", 7, 3, true}), first);
  EXPECT_NE(drawn(two, {"train", 7, 4, true}), first);
  EXPECT_NE(drawn(two, {"train", 8, 3, true}), first);
}

TEST_F(SampleReaderTest, AFieldThatThereIsNotIsNamedWithTheNearestOne) {
  SampleReader made(numbers_, 1);
  try {
    made.add(append("byts"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "transform 'append': the dataset has no field 'byts'; did you mean 'bytes'? known: bytes, number");
  }
}

}  // namespace
}  // namespace trainyard
