// SPDX-License-Identifier: Apache-2.0
#include "datasets/synthetic/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "datasets/testing/dataset_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Opened;
using testing::read_sample;
using testing::values;

std::vector<float> input(Synthetic& data, std::uint64_t index, const char* split = "train") {
  return values<float>(read_sample(data, split, index)[0]);
}

std::int64_t label(Synthetic& data, std::uint64_t index, const char* split = "train") {
  return values<std::int64_t>(read_sample(data, split, index)[1])[0];
}

TEST(SyntheticTest, InfoTellsSplitsFieldsAndClasses) {
  const DatasetInfo info = Opened<Synthetic>(R"({"samples": 7, "test_samples": 3, "shape": [1, 2, 3]})")->info();
  ASSERT_EQ(info.splits.size(), 3u);
  EXPECT_EQ(info.splits[0].samples, 7u);
  EXPECT_EQ(info.splits[1].samples, 1000u);
  EXPECT_EQ(info.splits[2].name, "test");
  EXPECT_THAT(info.fields[0].shape, ElementsAre(1, 2, 3));
  EXPECT_EQ(info.classes, 10u);
  EXPECT_EQ(Opened<Synthetic>(R"({"validate_samples": 0})")->info().splits.size(), 1u);
}

TEST(SyntheticTest, TheSameSeedGivesTheSameSamplesAndAnotherSeedOthers) {
  Opened<Synthetic> one("{}", 1);
  Opened<Synthetic> same("{}", 1);
  Opened<Synthetic> other("{}", 2);
  EXPECT_EQ(input(*one, 5), input(*same, 5));
  EXPECT_NE(input(*one, 5), input(*other, 5));
  EXPECT_NE(input(*one, 5), input(*one, 5, "validate"));
}

TEST(SyntheticTest, NoTwoSamplesAreAlike) {
  Opened<Synthetic> data(R"({"features": 4})");
  std::set<std::vector<float>> seen;
  for (std::uint64_t i = 0; i < 10000; ++i) seen.insert(input(*data, i));
  EXPECT_EQ(seen.size(), 10000u);
}

TEST(SyntheticTest, LabelsGoRoundTheClasses) {
  Opened<Synthetic> data(R"({"classes": 3, "features": 2, "mislabelled": 0})");
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(label(*data, i), static_cast<std::int64_t>(i % 3));
}

TEST(SyntheticTest, TheShareOfSamplesThatWasAskedForBearsTheLabelOfAnotherClass) {
  Opened<Synthetic> data(R"({"samples": 20000, "classes": 4, "features": 2, "mislabelled": 0.3})");
  std::array<int, 4> distance{};
  for (std::uint64_t i = 0; i < 20'000; ++i) ++distance[(static_cast<std::uint64_t>(label(*data, i)) + 4 - i % 4) % 4];
  EXPECT_NEAR(distance[0], 14'000, 300);
  for (const std::size_t other : {1, 2, 3}) EXPECT_NEAR(distance[other], 2'000, 200) << "all other classes alike";
}

TEST(SyntheticTest, ATenthOfTheLabelsIsWrongUnlessTheFileSaysOtherwise) {
  Opened<Synthetic> data(R"({"samples": 20000, "classes": 4, "features": 2})");
  int wrong = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) wrong += label(*data, i) != static_cast<std::int64_t>(i % 4) ? 1 : 0;
  EXPECT_NEAR(wrong, 2'000, 200);
}

TEST(SyntheticTest, WrongLabelsDifferBetweenSplitsAndLeaveTheInputsAlone) {
  Opened<Synthetic> data(R"({"features": 2, "mislabelled": 0.5})");
  Opened<Synthetic> right(R"({"features": 2, "mislabelled": 0})");
  int differing = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(input(*data, i), input(*right, i));
    differing += label(*data, i) != label(*data, i, "validate") ? 1 : 0;
  }
  EXPECT_GT(differing, 500);
}

TEST(SyntheticTest, ASingleClassHasNoWrongLabels) {
  Opened<Synthetic> data(R"({"classes": 1, "features": 2, "mislabelled": 1})");
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(label(*data, i), 0);
}

TEST(SyntheticTest, NoiseHasTheDeviationThatWasAskedFor) {
  Opened<Synthetic> data(R"({"classes": 1, "features": 10, "separation": 0, "noise": 2})");
  double sum = 0;
  double squares = 0;
  constexpr int kSamples = 5000;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    for (const float value : input(*data, i)) {
      sum += value;
      squares += value * value;
    }
  }
  EXPECT_NEAR(sum / kSamples / 10, 0, 0.05);
  EXPECT_NEAR(std::sqrt(squares / kSamples / 10), 2, 0.05);
}

TEST(SyntheticTest, SamplesWithoutNoiseAreTheCentreOfTheirClass) {
  Opened<Synthetic> data(R"({"classes": 2, "features": 20, "noise": 0})");
  EXPECT_EQ(input(*data, 0), input(*data, 2));
  EXPECT_NE(input(*data, 0), input(*data, 1));
}

TEST(SyntheticTest, TheNearestCentreTellsTheClassOfSamplesThatWereNotSeen) {
  Opened<Synthetic> exact(R"({"features": 64, "noise": 0})");
  Opened<Synthetic> data(R"({"features": 64})");
  int right = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::vector<float> sample = input(*data, i, "validate");
    std::uint64_t best = 0;
    double least = std::numeric_limits<double>::max();
    for (std::uint64_t label = 0; label < 10; ++label) {
      const std::vector<float> centre = input(*exact, label);
      double distance = 0;
      for (std::size_t k = 0; k < sample.size(); ++k) distance += std::pow(sample[k] - centre[k], 2);
      if (distance < least) least = distance, best = label;
    }
    right += best == i % 10 ? 1 : 0;
  }
  EXPECT_GT(right, 990);
}

TEST(SyntheticTest, UnknownSplitsHaveNoSamples) {
  Opened<Synthetic> data(R"({"features": 2})");
  EXPECT_THAT(error_of([&] { read_sample(*data, "test", 0); }).second, HasSubstr("no sample 0 in the split 'test'"));
}

}  // namespace
}  // namespace trainyard
