// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "components/optimizer/rule.h"

namespace trainyard::optimizer {
namespace {

/// Blocks of memory for a kernel, with a canary value after the last element to detect writes beyond the end.
template <class T>
struct Blocks {
  static constexpr T kCanary = 12345;

  explicit Blocks(std::size_t size) : count(size), memory(5, std::vector<T>(size + 1, T(0))) {
    std::mt19937 random(7);
    std::uniform_real_distribution<T> values(-1, 1);
    for (auto& block : memory) {
      for (T& value : block) value = values(random);
      block.back() = kCanary;
    }
    for (std::size_t block = 2; block < 5; ++block) {
      // Averages of squares must not be negative.
      for (std::size_t i = 0; i < size; ++i) memory[block][i] = std::abs(memory[block][i]);
    }
  }

  Slices<T> slices() {
    return {memory[0].data(), memory[1].data(), {memory[2].data(), memory[3].data(), memory[4].data()}, count};
  }

  std::size_t count;
  std::vector<std::vector<T>> memory;  ///< The parameters, the gradients and three blocks of state.
};

std::vector<const KernelSet*> sets() {
  std::vector<const KernelSet*> all{generic_kernels(), avx2_kernels(), avx512_kernels()};
  std::erase(all, nullptr);
  return all;
}

template <class T>
Coefficients<T> some_coefficients() {
  return {T(0.7), T(0.01), T(0.999), T(0.02), T(0.9), T(0.1), T(0.99), T(0.01), T(1.7), T(1e-8), T(1 / 1.7)};
}

template <class T>
Blocks<T> after(const KernelSet& set, std::size_t formula, std::size_t size, int passes = 3) {
  Blocks<T> blocks(size);
  const std::vector<T> gradient = blocks.memory[1];
  for (int i = 0; i < passes; ++i) {
    std::copy_n(gradient.begin(), size, blocks.memory[1].begin());
    set.get<T>(static_cast<Formula>(formula))(blocks.slices(), some_coefficients<T>());
  }
  return blocks;
}

template <class T>
void expect_same_bits(std::size_t size) {
  for (std::size_t formula = 0; formula < kFormulas; ++formula) {
    const auto wanted = after<T>(*generic_kernels(), formula, size);
    for (const KernelSet* set : sets()) {
      const auto got = after<T>(*set, formula, size);
      for (std::size_t block = 0; block < 5; ++block) {
        EXPECT_EQ(std::memcmp(got.memory[block].data(), wanted.memory[block].data(), (size + 1) * sizeof(T)), 0)
            << set->name << ", formula " << formula << ", block " << block << ", " << size << " elements";
      }
    }
  }
}

TEST(KernelsTest, EveryInstructionSetGivesTheSameBits) {
  for (const std::size_t size : {1u, 15u, 16u, 17u, 64u, 1003u}) {
    expect_same_bits<float>(size);
    expect_same_bits<double>(size);
  }
}

/// Runs the kernel of a formula once with all 65536 16-bit values as parameters, and with varying gradients and state.
template <class T>
std::vector<std::vector<std::uint32_t>> after_all_halves(const KernelSet& set, std::size_t formula) {
  constexpr std::size_t kAll = 65536;
  std::vector<T> parameters(kAll), gradients(kAll);
  std::vector<std::vector<float>> state(3, std::vector<float>(kAll));
  for (std::size_t i = 0; i < kAll; ++i) {
    parameters[i].bits = static_cast<std::uint16_t>(i);
    gradients[i].bits = static_cast<std::uint16_t>(i * 40503);
    for (auto& block : state) block[i] = static_cast<float>(i % 97) / 7;
  }
  set.get<T>(static_cast<Formula>(formula))(
      {parameters.data(), gradients.data(), {state[0].data(), state[1].data(), state[2].data()}, kAll},
      some_coefficients<float>());
  std::vector<std::vector<std::uint32_t>> bits(4, std::vector<std::uint32_t>(kAll));
  const auto put = [](float value) { return std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value); };
  // All NaNs are made equal, because the bits of a resulting NaN depend on the compiler.
  const std::uint16_t infinity = std::is_same_v<T, BFloat16> ? 0x7f80 : 0x7c00;
  for (std::size_t i = 0; i < kAll; ++i) {
    bits[0][i] = (parameters[i].bits & 0x7fff) > infinity ? 0x7fff : parameters[i].bits;
    for (std::size_t block = 0; block < 3; ++block) bits[block + 1][i] = put(state[block][i]);
  }
  return bits;
}

TEST(KernelsTest, EveryInstructionSetGivesTheSameBitsForHalves) {
  for (const std::size_t formula : {0u, 1u, 5u, 10u}) {
    for (const KernelSet* set : sets()) {
      EXPECT_TRUE(after_all_halves<BFloat16>(*set, formula) == after_all_halves<BFloat16>(*generic_kernels(), formula))
          << set->name << ", bfloat16, formula " << formula;
      EXPECT_TRUE(after_all_halves<Float16>(*set, formula) == after_all_halves<Float16>(*generic_kernels(), formula))
          << set->name << ", float16, formula " << formula;
    }
  }
}

/// Returns x rounded to T by a kernel: the result of sgd for parameter 0, gradient 1 and step size -x.
template <class T>
std::uint16_t rounded(float x, std::uint16_t one) {
  T parameter{0}, gradient{one};
  Coefficients<float> c;
  c.step_size = -x;
  generic_kernels()->get<T>(Formula::kSgd)({&parameter, &gradient, {}, 1}, c);
  return parameter.bits;
}

std::vector<float> many_floats() {
  std::mt19937 random(3);
  std::vector<float> all{1e-8f,    65504,      65519.996f, 65520,        1e30f,
                         0x1p-24f, 0x1.8p-25f, 0x1p-25f,   0x1.fffp-15f, INFINITY};
  std::uniform_real_distribution<float> exponents(-30, 20);
  for (int i = 0; i < 20000; ++i) all.push_back(std::exp2(exponents(random)));
  // Some of these values lie exactly between two 16-bit values.
  for (int i = 0; i < 2048; ++i) all.push_back(1.0f + static_cast<float>(i) * 0x1p-13f);
  return all;
}

TEST(KernelsTest, HalvesAreRoundedAsTheCompilerRoundsThem) {
#ifdef __FLT16_MAX__
  for (const float x : many_floats()) {
    ASSERT_EQ(rounded<Float16>(x, 0x3c00), std::bit_cast<std::uint16_t>(static_cast<_Float16>(x))) << x;
    ASSERT_EQ(rounded<Float16>(-x, 0x3c00), std::bit_cast<std::uint16_t>(static_cast<_Float16>(-x))) << x;
  }
#else
  GTEST_SKIP() << "the compiler has no _Float16 to compare with";
#endif
}

TEST(KernelsTest, BrainFloatsAreTheNearerOfTheirTwoNeighboursAndEvenOnTies) {
  for (const float x : many_floats()) {
    if (std::isinf(x)) continue;
    const std::uint32_t below = std::bit_cast<std::uint32_t>(x) >> 16;
    const auto value = [](std::uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits << 16)); };
    const double down = x - value(below), up = value(below + 1) - x;
    const bool takes_below = down < up || (down == up && below % 2 == 0);
    ASSERT_EQ(rounded<BFloat16>(x, 0x3f80), takes_below ? below : below + 1) << x;
  }
  EXPECT_EQ(rounded<BFloat16>(INFINITY, 0x3f80), 0x7f80);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(rounded<BFloat16>(NAN, 0x3f80)) << 16)));
}

TEST(KernelsTest, GradientsAreZeroAfterwardsAndNothingBeyondTheEndIsTouched) {
  for (const KernelSet* set : sets()) {
    for (std::size_t formula = 0; formula < kFormulas; ++formula) {
      const auto blocks = after<float>(*set, formula, 37);
      for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(blocks.memory[1][i], 0.0f);
      for (const auto& block : blocks.memory) EXPECT_EQ(block.back(), Blocks<float>::kCanary);
    }
  }
}

/// A reference for a single element: AdamW as in algorithm 2 of Loshchilov and Hutter, "Decoupled Weight Decay
/// Regularization" (ICLR 2019), with the decay scaled by the learning rate as in torch.
struct ScalarAdamW {
  double theta, m = 0, v = 0;
  void step(int t, double g, double lr, double beta1, double beta2, double eps, double decay) {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const double m_hat = m / (1 - std::pow(beta1, t));
    const double v_hat = v / (1 - std::pow(beta2, t));
    theta -= lr * (m_hat / (std::sqrt(v_hat) + eps) + decay * theta);
  }
};

TEST(KernelsTest, AdamWFollowsThePaperForAHundredSteps) {
  const Rule rule{.kind = RuleKind::kAdamW, .beta1 = 0.85, .beta2 = 0.97, .eps = 1e-6};
  double parameter = 0.8, gradient = 0, mean = 0, square = 0;
  ScalarAdamW wanted{parameter};
  for (int t = 1; t <= 100; ++t) {
    const double g = std::sin(t * 1.7) + 0.1;
    gradient = g * 4;
    wanted.step(t, g, 0.01, 0.85, 0.97, 1e-6, 0.1);
    const auto c = coefficients(
        rule, {.step = static_cast<std::uint64_t>(t), .lr = 0.01, .weight_decay = 0.1, .gradient_scale = 0.25});
    best_kernels().get<double>(Formula::kAdamW)({&parameter, &gradient, {&mean, &square}, 1}, c);
    ASSERT_NEAR(parameter, wanted.theta, 1e-14) << "step " << t;
  }
}

TEST(KernelsTest, NesterovLooksOneStepAhead) {
  // Nesterov momentum of Sutskever et al., "On the importance of initialization and momentum in deep learning" (ICML
  // 2013), in torch's form: b = mu * b + g; p -= lr * (g + mu * b).
  const Rule rule{.kind = RuleKind::kSgd, .momentum = 0.5, .nesterov = true};
  double parameter = 1, buffer = 0, gradient = 2;
  const Slices<double> slices{&parameter, &gradient, {&buffer}, 1};
  best_kernels().get<double>(Formula::kSgdNesterov)(slices, coefficients(rule, {.step = 1, .lr = 0.1}));
  EXPECT_DOUBLE_EQ(buffer, 2);
  EXPECT_DOUBLE_EQ(parameter, 1 - 0.1 * (2 + 0.5 * 2));
  gradient = -1;
  best_kernels().get<double>(Formula::kSgdNesterov)(slices, coefficients(rule, {.step = 2, .lr = 0.1}));
  EXPECT_DOUBLE_EQ(buffer, 0);
  EXPECT_DOUBLE_EQ(parameter, 0.7 - 0.1 * -1);
}

TEST(KernelsTest, CenteredRmspropOutlivesAConstantGradient) {
  // With a constant gradient, the mean of squares and the square of the mean become equal, and rounding could make
  // their difference negative.
  const Rule rule{.kind = RuleKind::kRmsprop, .alpha = 0.5, .centered = true};
  const auto c = devices::rounded<float>(coefficients(rule, {.step = 1, .lr = 1e-9}));
  float parameter = 0, square = 0, mean = 0;
  for (int t = 0; t < 200; ++t) {
    float gradient = 0.1f;
    best_kernels().get<float>(Formula::kRmspropCentered)({&parameter, &gradient, {&square, &mean}, 1}, c);
    ASSERT_TRUE(std::isfinite(parameter)) << t;
  }
}

TEST(KernelsTest, ANotANumberGradientIsNotHidden) {
  for (std::size_t formula = 0; formula < kFormulas; ++formula) {
    Blocks<float> blocks(20);
    blocks.memory[1][13] = NAN;
    best_kernels().get<float>(static_cast<Formula>(formula))(blocks.slices(), some_coefficients<float>());
    EXPECT_TRUE(std::isnan(blocks.memory[0][13])) << formula;
    EXPECT_FALSE(std::isnan(blocks.memory[0][12])) << formula;
  }
}

}  // namespace
}  // namespace trainyard::optimizer
