// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint8_t kFloat = static_cast<std::uint8_t>(DType::kFloat32);

/// Returns the entries of two layers, each with a matrix [3, 4] and a bias [3], aligned to 64 bytes (16 elements).
std::vector<ArenaEntry> two_layers() {
  return {{"a.weight", "parameters", kFloat, {3, 4}, 0},
          {"a.bias", "parameters", kFloat, {3}, 64},
          {"b.weight", "parameters", kFloat, {3, 4}, 128},
          {"b.bias", "parameters", kFloat, {3}, 192},
          {"running_mean", "buffers", kFloat, {3}, 0}};
}

TEST(SegmentsTest, EqualTreatmentMakesOneSegmentPaddingIncluded) {
  EXPECT_THAT(make_segments(two_layers(), {.weight_decay = 0.1}, DType::kFloat32, 64),
              ElementsAre(Segment{0, 51, 1, 0.1}));
}

TEST(SegmentsTest, WithoutDecayItDoesNotMatterWhatWouldDecay) {
  EXPECT_EQ(
      make_segments(two_layers(), {.weight_decay = 0, .decay_on = DecayOn::kMatrices}, DType::kFloat32, 64).size(), 1u);
}

TEST(SegmentsTest, DecayOnMatricesOnlyAlternates) {
  EXPECT_THAT(make_segments(two_layers(), {.weight_decay = 0.1, .decay_on = DecayOn::kMatrices}, DType::kFloat32, 64),
              ElementsAre(Segment{0, 12, 1, 0.1}, Segment{16, 3, 1, 0}, Segment{32, 12, 1, 0.1}, Segment{48, 3, 1, 0}));
}

TEST(SegmentsTest, NamesAreMatchedAsGlobs) {
  const GroupSettings settings{
      .weight_decay = 0.1, .no_decay = {"*.bias"}, .lr_scale = {{"*", 0.5}, {"b.*", 2}, {"?.bias", 3}}};
  EXPECT_THAT(
      make_segments(two_layers(), settings, DType::kFloat32, 64),
      ElementsAre(Segment{0, 12, 0.5, 0.1}, Segment{16, 3, 3, 0}, Segment{32, 12, 2, 0.1}, Segment{48, 3, 3, 0}));
}

TEST(SegmentsTest, EntriesMayComeInAnyOrder) {
  auto entries = two_layers();
  std::ranges::reverse(entries);
  const GroupSettings settings{.weight_decay = 0.1, .decay_on = DecayOn::kMatrices};
  EXPECT_EQ(make_segments(entries, settings, DType::kFloat32, 64),
            make_segments(two_layers(), settings, DType::kFloat32, 64));
}

TEST(SegmentsTest, APartHasWhatLiesInItCountedFromItsBegin) {
  const std::vector<Segment> whole{{0, 51, 1, 0.1}, {64, 16, 2, 0}, {96, 32, 1, 0}};
  EXPECT_EQ(clip(whole, 0, 128), whole);
  EXPECT_THAT(clip(whole, 32, 80), ElementsAre(Segment{0, 19, 1, 0.1}, Segment{32, 16, 2, 0}, Segment{64, 16, 1, 0}));
  EXPECT_THAT(clip(whole, 48, 16), ElementsAre(Segment{0, 3, 1, 0.1}));
  EXPECT_THAT(clip(whole, 80, 16), ElementsAre()) << "padding, or what a rank without parameters has";
  EXPECT_THAT(clip(whole, 96, 0), ElementsAre());
}

TEST(SegmentsTest, AnEntryThatDoesNotFitItsBlockIsNamed) {
  EXPECT_THAT(
      [] { make_segments(two_layers(), {}, DType::kFloat32, 50); },
      ThrowsMessage<Error>(HasSubstr("parameter 'b.bias' [3] at byte 192 ends beyond its block of 50 elements")));
  EXPECT_THAT([] { make_segments(two_layers(), {}, DType::kFloat64, 640); },
              ThrowsMessage<Error>(HasSubstr("parameter 'a.weight' is float32, its block is float64")));
}

TEST(SegmentsTest, PatternsThatMatchNothingAreFound) {
  const GroupSettings settings{.no_decay = {"*.bais", "*.bias"}, .lr_scale = {{"encoder.*", 0.1}, {"a*", 2}}};
  EXPECT_THAT(unmatched_patterns(two_layers(), settings), ElementsAre("*.bais", "encoder.*"));
  EXPECT_THAT(unmatched_patterns(two_layers(), {.no_decay = {"running_mean"}}), ElementsAre("running_mean"));
}

TEST(SegmentsTest, FactorsOnTheLearningRateAreRead) {
  const auto scale = parse_lr_scale("head[=]*=2.5e-1");
  EXPECT_EQ(scale.pattern, "head[=]*");
  EXPECT_EQ(scale.factor, 0.25);
  EXPECT_EQ(parse_lr_scale("*=0").factor, 0);
}

TEST(SegmentsTest, AnythingElseIsRefused) {
  for (const char* text : {"", "a", "=1", "a=", "a=x", "a=1x", "a=-1", "a=nan"}) {
    EXPECT_THAT([&] { parse_lr_scale(text); },
                ThrowsMessage<Error>(HasSubstr("' is not allowed; a pattern, '=' and a number >= 0")))
        << text;
  }
}

}  // namespace
}  // namespace trainyard::optimizer
