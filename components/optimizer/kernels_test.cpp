#include "components/optimizer/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "components/optimizer/rule.h"

namespace trainyard::optimizer {
namespace {

/// Blocks with a canary after the last element.
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
      for (std::size_t i = 0; i < size; ++i) memory[block][i] = std::abs(memory[block][i]);  // Averages of squares.
    }
  }

  Slices<T> slices() {
    return {memory[0].data(), memory[1].data(), {memory[2].data(), memory[3].data(), memory[4].data()}, count};
  }

  std::size_t count;
  std::vector<std::vector<T>> memory;  ///< Parameters, gradients, three blocks of state.
};

std::vector<const KernelSet*> sets() {
  std::vector<const KernelSet*> all{generic_kernels(), avx2_kernels(), avx512_kernels()};
  std::erase(all, nullptr);
  return all;
}

template <class T>
Coefficients<T> some_coefficients() {
  return {T(0.7), T(0.01), T(0.999), T(0.02), T(0.9), T(0.1), T(0.99), T(0.01), T(1.7), T(1e-8)};
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

TEST(KernelsTest, GradientsAreZeroAfterwardsAndNothingBeyondTheEndIsTouched) {
  for (const KernelSet* set : sets()) {
    for (std::size_t formula = 0; formula < kFormulas; ++formula) {
      const auto blocks = after<float>(*set, formula, 37);
      for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(blocks.memory[1][i], 0.0f);
      for (const auto& block : blocks.memory) EXPECT_EQ(block.back(), Blocks<float>::kCanary);
    }
  }
}

/// One element of AdamW as algorithm 2 of Loshchilov and Hutter, "Decoupled Weight Decay Regularization" (ICLR 2019)
/// has it, with torch's scaling of the decay by the learning rate.
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
  const Rule rule{.name = "adamw", .beta1 = 0.85, .beta2 = 0.97, .eps = 1e-6};
  double parameter = 0.8, gradient = 0, mean = 0, square = 0;
  ScalarAdamW wanted{parameter};
  for (int t = 1; t <= 100; ++t) {
    const double g = std::sin(t * 1.7) + 0.1;
    gradient = g * 4;
    wanted.step(t, g, 0.01, 0.85, 0.97, 1e-6, 0.1);
    const auto c = coefficients<double>(
        rule, {.step = static_cast<std::uint64_t>(t), .lr = 0.01, .weight_decay = 0.1, .gradient_scale = 0.25});
    best_kernels().get<double>(Formula::kAdamW)({&parameter, &gradient, {&mean, &square}, 1}, c);
    ASSERT_NEAR(parameter, wanted.theta, 1e-14) << "step " << t;
  }
}

TEST(KernelsTest, NesterovLooksOneStepAhead) {
  // Sutskever et al., "On the importance of initialization and momentum in deep learning" (ICML 2013), in torch's form:
  // b = mu * b + g; p -= lr * (g + mu * b).
  const Rule rule{.name = "sgd", .momentum = 0.5, .nesterov = true};
  double parameter = 1, buffer = 0, gradient = 2;
  const Slices<double> slices{&parameter, &gradient, {&buffer}, 1};
  best_kernels().get<double>(Formula::kSgdNesterov)(slices, coefficients<double>(rule, {.step = 1, .lr = 0.1}));
  EXPECT_DOUBLE_EQ(buffer, 2);
  EXPECT_DOUBLE_EQ(parameter, 1 - 0.1 * (2 + 0.5 * 2));
  gradient = -1;
  best_kernels().get<double>(Formula::kSgdNesterov)(slices, coefficients<double>(rule, {.step = 2, .lr = 0.1}));
  EXPECT_DOUBLE_EQ(buffer, 0);
  EXPECT_DOUBLE_EQ(parameter, 0.7 - 0.1 * -1);
}

TEST(KernelsTest, CenteredRmspropOutlivesAConstantGradient) {
  // The mean of squares and the square of the mean become equal, and rounding could make the difference negative.
  const Rule rule{.name = "rmsprop", .alpha = 0.5, .centered = true};
  const auto c = coefficients<float>(rule, {.step = 1, .lr = 1e-9});
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
