// SPDX-License-Identifier: Apache-2.0
#include "devices/update.h"

#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::devices {
namespace {

Tensor block(DType dtype, std::int64_t elements) {
  return {dtype, {elements}, 0, Buffer::heap(static_cast<std::size_t>(elements) * size_of(dtype))};
}

std::string error_of(const UpdateRequest& request, DType parameters = DType::kFloat32) {
  try {
    check(request, parameters, 64);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(UpdateRequestTest, RangesAndStateMustFitTheParameters) {
  const Tensor fitting = block(DType::kFloat32, 64);
  EXPECT_EQ(error_of({Formula::kSgdMomentum, {{0, 32}, {32, 32}}, {fitting}}), "no error");
  EXPECT_EQ(error_of({Formula::kSgdMomentum, {{0, 64}}, {fitting}}, DType::kBFloat16), "no error");
  EXPECT_EQ(error_of({Formula::kSgdMomentum, {{60, 5}}, {fitting}}),
            "an update of 5 elements from element 60 on is beyond the 64 elements of the rank");
  EXPECT_EQ(error_of({Formula::kSgdMomentum, {{65, ~std::uint64_t{0}}}, {fitting}}).substr(0, 12), "an update of");
  EXPECT_EQ(error_of({Formula::kAdam, {}, {fitting}}), "the formula has 2 state blocks, 1 were given");
  EXPECT_EQ(error_of({Formula::kSgdMomentum, {}, {block(DType::kFloat32, 63)}}),
            "a block of optimizer state is float32 [63]; it must be float32 [64]");
  EXPECT_EQ(error_of({Formula::kSgdMomentum, {}, {fitting}}, DType::kFloat64),
            "a block of optimizer state is float32 [64]; it must be float64 [64]");
}

TEST(UpdateRequestTest, OnlyFloatingPointParametersHaveState) {
  EXPECT_EQ(state_type_of(DType::kFloat16), DType::kFloat32);
  EXPECT_EQ(state_type_of(DType::kFloat64), DType::kFloat64);
  EXPECT_EQ(error_of({Formula::kSgd, {}, {}}, DType::kInt32),
            "the optimizer was given int32 parameters; float64, float32, bfloat16 and float16 are supported");
}

}  // namespace
}  // namespace trainyard::devices
