// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "collectives/collective.h"
#include "messages/half.h"

namespace trainyard::shared_memory {
namespace {

std::vector<const KernelSet*> sets() {
  std::vector<const KernelSet*> all{generic_kernels(), avx2_kernels(), avx512_kernels()};
  std::erase(all, nullptr);
  return all;
}

/// Reduces `inputs` into two outputs with the kernels of `set`, checks that both outputs are equal, and returns one.
template <class T>
std::vector<T> reduced(const KernelSet& set, DType dtype, ReduceOp op, const std::vector<std::vector<T>>& inputs) {
  std::vector<const void*> from;
  for (const auto& input : inputs) from.push_back(input.data());
  std::vector<T> first(inputs[0].size()), second(inputs[0].size());
  void* to[2] = {first.data(), second.data()};
  set.reduce[static_cast<int>(dtype)][static_cast<int>(op)](from.data(), from.size(), to, 2, first.size());
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(T)), 0);
  return first;
}

TEST(ReduceKernelsTest, EveryInstructionSetGivesTheSameBitsForEveryType) {
  std::mt19937 random(5);
  for (int type = 0; type <= static_cast<int>(DType::kBool); ++type) {
    const auto dtype = static_cast<DType>(type);
    for (const std::size_t inputs : {2u, 3u, 4u, 7u}) {
      std::vector<std::vector<std::uint8_t>> bytes(inputs, std::vector<std::uint8_t>(1500 * size_of(dtype)));
      for (auto& input : bytes) {
        for (auto& byte : input) byte = static_cast<std::uint8_t>(random() % (dtype == DType::kBool ? 2 : 120));
      }
      for (int op = 0; op < static_cast<int>(kReduceOps); ++op) {
        std::vector<std::vector<std::uint8_t>> results;
        for (const KernelSet* set : sets()) {
          const Reduce reduce = set->reduce[type][op];
          if (reduce == nullptr) continue;
          std::vector<const void*> from;
          for (const auto& input : bytes) from.push_back(input.data());
          results.emplace_back(bytes[0].size());
          void* to = results.back().data();
          reduce(from.data(), from.size(), &to, 1, 1500);
        }
        for (const auto& result : results) EXPECT_EQ(result, results[0]) << name_of(dtype) << ", operation " << op;
      }
    }
  }
}

TEST(ReduceKernelsTest, FloatsAreCombinedFromLeftToRight) {
  const std::vector<std::vector<float>> inputs{
      {1e8f, 3, -1, 2}, {-1e8f, 1, 4, 2}, {1, 2, 4, 3}, {0.5f, 5, 2, 1}, {1, 0, 0, 1}};
  for (const KernelSet* set : sets()) {
    EXPECT_EQ(reduced(*set, DType::kFloat32, ReduceOp::kSum, inputs), (std::vector<float>{2.5f, 11, 9, 9}));
    EXPECT_EQ(reduced(*set, DType::kFloat32, ReduceOp::kMean, inputs)[1], 11.0f / 5);
    EXPECT_EQ(reduced(*set, DType::kFloat32, ReduceOp::kMin, inputs), (std::vector<float>{-1e8f, 0, -1, 1}));
    EXPECT_EQ(reduced(*set, DType::kFloat32, ReduceOp::kMax, inputs), (std::vector<float>{1e8f, 5, 4, 3}));
    EXPECT_EQ(reduced(*set, DType::kFloat32, ReduceOp::kProduct, inputs)[3], 12);
  }
}

TEST(ReduceKernelsTest, HalvesAreRoundedOnce) {
  // bfloat16 has 8 bits of precision, so 1 + 2^-8 + 2^-8 would be 1 if every sum were rounded to bfloat16.
  BFloat16 one{}, little{};
  store(1.0f, one);
  store(0x1p-8f, little);
  const std::vector<std::vector<std::uint16_t>> inputs{{one.bits}, {little.bits}, {little.bits}};
  for (const KernelSet* set : sets()) {
    const BFloat16 sum{reduced(*set, DType::kBFloat16, ReduceOp::kSum, inputs)[0]};
    EXPECT_EQ(load(sum), 1 + 0x1p-7f);
  }
}

TEST(ReduceKernelsTest, ANotANumberOnAnyRankIsNotHidden) {
  const std::vector<std::vector<double>> inputs{{NAN, 1, 1, 0}, {1, NAN, 1, 0}, {1, 1, NAN, 0}};
  for (const KernelSet* set : sets()) {
    for (int op = 0; op < static_cast<int>(kReduceOps); ++op) {
      const auto result = reduced(*set, DType::kFloat64, static_cast<ReduceOp>(op), inputs);
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(result[i])) << op << ", " << i;
      EXPECT_EQ(result[3], 0);
    }
  }
}

TEST(ReduceKernelsTest, IntegersWrapAroundAndTheirMeanIsRoundedTowardsZero) {
  for (const KernelSet* set : sets()) {
    const std::vector<std::vector<std::int8_t>> bytes{{100, -7}, {100, 0}};
    EXPECT_EQ(reduced(*set, DType::kInt8, ReduceOp::kSum, bytes), (std::vector<std::int8_t>{-56, -7}));
    EXPECT_EQ(reduced(*set, DType::kInt8, ReduceOp::kMean, bytes), (std::vector<std::int8_t>{100, -3}));
    const std::vector<std::vector<std::int64_t>> large{{INT64_MAX}, {1}};
    EXPECT_EQ(reduced(*set, DType::kInt64, ReduceOp::kSum, large)[0], INT64_MIN);
  }
}

TEST(ReduceKernelsTest, OfBoolsTheSumIsAnyAndTheProductAll) {
  const std::vector<std::vector<std::uint8_t>> flags{{0, 1, 1}, {0, 0, 1}};
  for (const KernelSet* set : sets()) {
    EXPECT_EQ(reduced(*set, DType::kBool, ReduceOp::kSum, flags), (std::vector<std::uint8_t>{0, 1, 1}));
    EXPECT_EQ(reduced(*set, DType::kBool, ReduceOp::kProduct, flags), (std::vector<std::uint8_t>{0, 0, 1}));
    EXPECT_EQ(set->reduce[static_cast<int>(DType::kBool)][static_cast<int>(ReduceOp::kMean)], nullptr);
  }
}

}  // namespace
}  // namespace trainyard::shared_memory
