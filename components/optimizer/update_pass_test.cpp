// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/update_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Tensor filled(std::int64_t size, float value, DType dtype = DType::kFloat32) {
  Tensor tensor = Tensor::empty(dtype, {size});
  if (dtype == DType::kFloat32) std::ranges::fill(tensor.as<float>(), value);
  return tensor;
}

TEST(UpdatePassTest, PaddingStaysZeroUnderEveryRule) {
  for (const RuleKind kind :
       {RuleKind::kSgd, RuleKind::kAdam, RuleKind::kAdamW, RuleKind::kRmsprop, RuleKind::kAdagrad}) {
    const Rule rule{.kind = kind, .momentum = 0.9, .centered = true};
    const Formula formula = formula_of(rule);
    const Tensor parameters = filled(64, 0), gradients = filled(64, 0);
    std::vector<Tensor> state;
    for (std::size_t i = 0; i < state_names(formula).size(); ++i) state.push_back(filled(64, 0));
    UpdatePass pass = host_pass(rule, formula, {{0, 64, 1, 0.1}}, parameters, gradients, state);
    for (std::uint64_t step = 1; step <= 50; ++step) {
      for (int i = 0; i < 10; ++i) gradients.as<float>()[i] = 1;
      pass.run({.step = step, .lr = 0.1});
    }
    const std::vector<float> zeros(54, 0.0f);
    EXPECT_NE(parameters.as<float>()[9], 0) << name_of(kind);
    EXPECT_EQ(std::memcmp(parameters.as<float>().data() + 10, zeros.data(), 54 * sizeof(float)), 0) << name_of(kind);
    for (const auto& block : state) EXPECT_THAT(block.as<float>().subspan(10), Each(0.0f)) << name_of(kind);
  }
}

TEST(UpdatePassTest, SegmentsHaveTheirOwnLearningRateAndDecay) {
  const Tensor parameters = filled(48, 1), gradients = filled(48, 0);
  gradients.as<float>()[0] = gradients.as<float>()[16] = gradients.as<float>()[47] = 1;
  UpdatePass pass = host_pass({.kind = RuleKind::kSgd}, Formula::kSgd,
                              {{0, 10, 1, 0}, {16, 4, 0.5, 0}, {32, 8, 1, 0.25}}, parameters, gradients, {});
  pass.run({.step = 1, .lr = 0.5, .gradient_scale = 0.5});
  const auto values = parameters.as<float>();
  EXPECT_EQ(values[0], 0.75f);
  EXPECT_EQ(values[1], 1.0f);
  EXPECT_EQ(values[16], 0.875f);
  EXPECT_EQ(values[32], 0.875f);
  EXPECT_EQ(values[47], 1.0f) << "beyond the last segment";
  EXPECT_EQ(gradients.as<float>()[47], 1.0f);
}

TEST(UpdatePassTest, ManySegmentsGiveTheSameBitsAsOne) {
  const auto train = [](const std::vector<Segment>& segments) {
    const Tensor parameters = filled(64, 0.3f), gradients = filled(64, 0);
    UpdatePass pass = host_pass({.kind = RuleKind::kAdamW}, Formula::kAdamW, segments, parameters, gradients,
                                {filled(64, 0), filled(64, 0)});
    for (std::uint64_t step = 1; step <= 20; ++step) {
      for (int i = 0; i < 64; ++i) gradients.as<float>()[i] = 0.01f * static_cast<float>(i) - 0.1f;
      pass.run({.step = step, .lr = 0.01});
    }
    return std::vector<float>(parameters.as<float>().begin(), parameters.as<float>().end());
  };
  EXPECT_EQ(train({{0, 64, 1, 0.1}}), train({{0, 17, 1, 0.1}, {17, 30, 1, 0.1}, {47, 17, 1, 0.1}}));
}

TEST(UpdatePassTest, HalvesAreUpdatedInFloatAndRoundedOnce) {
  // The bits of 1.0, 0.5 and 0.875 in both formats. The result 1 - 0.25 * 0.5 = 0.875 is exact.
  for (const auto& [dtype, one, half, wanted] :
       {std::tuple(DType::kBFloat16, 0x3f80, 0x3f00, 0x3f60), std::tuple(DType::kFloat16, 0x3c00, 0x3800, 0x3b00)}) {
    const Tensor parameters = filled(8, 0, dtype), gradients = filled(8, 0, dtype), buffer = filled(8, 0);
    std::ranges::fill(parameters.as<std::uint16_t>(), static_cast<std::uint16_t>(one));
    std::ranges::fill(gradients.as<std::uint16_t>(), static_cast<std::uint16_t>(half));
    UpdatePass pass = host_pass({.kind = RuleKind::kSgd, .momentum = 0.9}, Formula::kSgdMomentum, {{0, 8, 1, 0}},
                                parameters, gradients, {buffer});
    pass.run({.step = 1, .lr = 0.25});
    EXPECT_THAT(parameters.as<std::uint16_t>(), Each(wanted)) << name_of(dtype);
    EXPECT_THAT(gradients.as<std::uint16_t>(), Each(0)) << name_of(dtype);
    EXPECT_THAT(buffer.as<float>(), Each(0.5f)) << name_of(dtype);
  }
}

TEST(UpdatePassTest, BlocksThatDoNotFitAreNamed) {
  const Rule rule{.kind = RuleKind::kAdamW};
  const auto make = [&](DType dtype, std::int64_t gradients, std::vector<Tensor> state) {
    host_pass(rule, Formula::kAdamW, {}, filled(8, 0, dtype), filled(gradients, 0, dtype), std::move(state));
  };
  EXPECT_THAT(
      [&] { make(DType::kInt32, 8, {}); },
      ThrowsMessage<Error>(HasSubstr("given int32 parameters; float64, float32, bfloat16 and float16 are supported")));
  EXPECT_THAT([&] { make(DType::kBFloat16, 8, {filled(8, 0, DType::kBFloat16)}); },
              ThrowsMessage<Error>(HasSubstr("has 2 state blocks, 1 were given")));
  const Tensor half = filled(8, 0, DType::kBFloat16);
  EXPECT_THAT(
      [&] {
        make(DType::kBFloat16, 8, {half, half});
      },
      ThrowsMessage<Error>(HasSubstr("block of exp_avg is bfloat16 [8], that of the parameters bfloat16 [8]; it "
                                     "must be float32")));
  EXPECT_THAT([&] { make(DType::kFloat32, 9, {}); },
              ThrowsMessage<Error>(HasSubstr("block of gradients is float32 [9], that of the parameters float32 [8]")));
  EXPECT_THAT(
      [&] {
        make(DType::kFloat32, 8, {filled(8, 0), filled(7, 0)});
      },
      ThrowsMessage<Error>(HasSubstr("block of exp_avg_sq is float32 [7]")));
  EXPECT_THAT([&] { make(DType::kFloat32, 8, {filled(8, 0)}); },
              ThrowsMessage<Error>(HasSubstr("has 2 state blocks, 1 were given")));
}

}  // namespace
}  // namespace trainyard::optimizer
