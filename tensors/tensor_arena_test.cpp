// SPDX-License-Identifier: Apache-2.0
#include "tensors/tensor_arena.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "messages/error.h"
#include "tensors/arena.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

using devices::Coefficients;
using devices::Formula;
using devices::Purpose;
using devices::states_of;
using ::testing::HasSubstr;

Buffer zeroed(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

/// The CPU in the role of a device with memory of its own.
DeviceMemory own_memory(std::shared_ptr<devices::LinkBytes> link = {}) {
  return {.device = at::Device(at::kCPU), .copy = {}, .link = std::move(link)};
}

/// Values of both signs and many magnitudes.
template <class T>
std::vector<T> some_values(std::size_t count, double seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(std::sin(seed * static_cast<double>(i + 1)) * std::exp(3 * std::cos(seed + 0.7 * i)));
  }
  return values;
}

constexpr Coefficients<double> kCoefficients{.gradient_scale = 0.5,
                                             .weight_decay = 0.01,
                                             .keep = 0.999,
                                             .step_size = 0.1,
                                             .decay1 = 0.9,
                                             .gain1 = 0.1,
                                             .decay2 = 0.99,
                                             .gain2 = 0.01,
                                             .root_scale = 1.7,
                                             .eps = 1e-8,
                                             .root_divisor = 0.6};

template <class T>
Tensor block_of(const std::vector<T>& values, DType dtype) {
  Tensor block{dtype, {static_cast<std::int64_t>(values.size())}, 0, zeroed(values.size() * sizeof(T))};
  std::memcpy(block.data(), values.data(), values.size() * sizeof(T));
  return block;
}

/// The formulas, with values of type T: what the rule makes of each element by itself, and what the device makes of
/// all.
template <class T>
class Comparison {
 public:
  explicit Comparison(Formula formula, DType dtype) : formula_(formula), dtype_(dtype) {
    for (std::size_t i = 0; i < states_of(formula); ++i) {
      state_.push_back(some_values<T>(kCount, 0.3 + 0.1 * static_cast<double>(i)));
      for (T& value : state_.back()) value = std::abs(value);
    }
  }

  void run() {
    std::vector<Tensor> blocks;
    for (const auto& state : state_) blocks.push_back(block_of(state, dtype_));
    at::Tensor parameters = at::from_blob(parameters_.data(), {kCount}, scalar_type_of(dtype_)).clone();
    at::Tensor gradients = at::from_blob(gradients_.data(), {kCount}, scalar_type_of(dtype_)).clone();
    TensorArena arena(own_memory(), parameters, gradients);
    // The last elements belong to no range and do not change.
    const auto update = arena.make_update({formula_, {{0, 100}, {100, kCount - 110}}, blocks});
    for (int step = 0; step < 3; ++step) {
      gradients.copy_(at::from_blob(gradients_.data(), {kCount}, scalar_type_of(dtype_)));
      const std::vector<Coefficients<double>> coefficients{kCoefficients, kCoefficients};
      update->run(coefficients);
    }
    arena.state_to_host();
    for (int step = 0; step < 3; ++step) apply();
    compare(parameters_, static_cast<const T*>(parameters.data_ptr()));
    for (std::size_t i = 0; i < state_.size(); ++i) compare(state_[i], reinterpret_cast<const T*>(blocks[i].data()));
    EXPECT_EQ(gradients.narrow(0, 0, kCount - 10).abs().sum().template item<double>(), 0);
    EXPECT_NE(gradients[kCount - 1].template item<double>(), 0);
  }

 private:
  void apply() {
    const auto c = devices::rounded<T>(kCoefficients);
    for (std::size_t i = 0; i < kCount - 10; ++i) {
      T s[3] = {};
      for (std::size_t j = 0; j < state_.size(); ++j) s[j] = state_[j][i];
      parameters_[i] = devices::with_rule(formula_, [&](auto rule) {
        return decltype(rule)::update(parameters_[i], gradients_[i] * c.gradient_scale, s[0], s[1], s[2], c);
      });
      for (std::size_t j = 0; j < state_.size(); ++j) state_[j][i] = s[j];
    }
  }

  /// Single precision has the same bits. In double precision the processor fuses operations as torch.optim does.
  static void compare(const std::vector<T>& expected, const T* values) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (sizeof(T) == 4) {
        ASSERT_EQ(values[i], expected[i]) << i;
      } else {
        ASSERT_NEAR(values[i], expected[i], 1e-14 * (1 + std::abs(expected[i]))) << i;
      }
    }
  }

  static constexpr std::int64_t kCount = 1000;

  Formula formula_;
  DType dtype_;
  std::vector<T> parameters_ = some_values<T>(kCount, 0.11);
  std::vector<T> gradients_ = some_values<T>(kCount, 0.23);
  std::vector<std::vector<T>> state_;
};

class TensorUpdateTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(TensorUpdateTest, HasTheBitsOfTheRuleInSinglePrecision) {
  Comparison<float>(static_cast<Formula>(GetParam()), DType::kFloat32).run();
}

TEST_P(TensorUpdateTest, FollowsTheRuleInDoublePrecision) {
  Comparison<double>(static_cast<Formula>(GetParam()), DType::kFloat64).run();
}

INSTANTIATE_TEST_SUITE_P(Formulas, TensorUpdateTest, ::testing::Range(std::size_t{0}, devices::kFormulas));

TEST(TensorArenaTest, HalvesAreUpdatedInSinglePrecision) {
  const at::Tensor parameters = at::ones({64}).to(at::kBFloat16), gradients = at::ones({64}).to(at::kBFloat16);
  TensorArena arena(own_memory(), parameters, gradients);
  const Tensor momentum = block_of(std::vector<float>(64, 0), DType::kFloat32);
  const auto update = arena.make_update({Formula::kSgdMomentum, {{0, 64}}, {momentum}});
  const std::vector<Coefficients<double>> coefficients{{.step_size = 0.001, .decay1 = 0.9}};
  update->run(coefficients);
  arena.state_to_host();
  EXPECT_EQ(momentum.as<float>()[5], 1);
  EXPECT_EQ(parameters[5].item<float>(), at::ones({1}).sub(0.001).to(at::kBFloat16).item<float>());
  EXPECT_EQ(gradients.abs().sum().item<float>(), 0);
}

TEST(TensorArenaTest, RefusesStateAndRangesThatDoNotFit) {
  const at::Tensor values = at::ones({64});
  const auto error_of = [&](const devices::UpdateRequest& request) -> std::string {
    try {
      TensorArena(own_memory(), values, values).make_update(request);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kShapeMismatch);
      return error.what();
    }
    return "no error";
  };
  const Tensor fitting = block_of(std::vector<float>(64, 0), DType::kFloat32);
  EXPECT_THAT(error_of({Formula::kSgdMomentum, {{0, 64}}, {}}), HasSubstr("has 1 state blocks, 0 were given"));
  EXPECT_THAT(error_of({Formula::kSgdMomentum, {{60, 5}}, {fitting}}), HasSubstr("beyond the 64 elements"));
  EXPECT_THAT(error_of({Formula::kSgdMomentum, {{0, 64}}, {block_of(std::vector<float>(63, 0), DType::kFloat32)}}),
              HasSubstr("float32 [63]; it must be float32 [64]"));
  EXPECT_THAT(error_of({Formula::kSgdMomentum, {{0, 64}}, {block_of(std::vector<double>(64, 0), DType::kFloat64)}}),
              HasSubstr("it must be float32"));
}

/// An arena whose optimizer works on the device.
class DeviceUpdateTest : public ::testing::Test {
 protected:
  DeviceUpdateTest() {
    const devices::UpdateRequest request{Formula::kSgdMomentum, {{0, 16}}, {momentum_}};
    update_ = info_.device_arena->make_update(request);
    before_ = link_->all().both();
  }

  void train_one_step() {
    (weight_ * 3).sum().backward();
    arena_.publish_gradients();
    update_->run(std::vector<Coefficients<double>>{{.step_size = 0.5, .decay1 = 0.9}});
    ArenaEdit(arena_).fetch_parameters();
  }

  const float* host_parameters() const { return info_.blocks[0].data.as<float>().data(); }

  std::shared_ptr<devices::LinkBytes> link_ = std::make_shared<devices::LinkBytes>();
  at::Tensor weight_ = at::ones({4}).set_requires_grad(true);
  at::Tensor mean_ = at::ones({3});
  Arena arena_{{{"weight", weight_}}, {{"mean", mean_}}, &zeroed, own_memory(link_)};
  ArenaInfo info_ = arena_.info(0, "cpu", "");
  Tensor momentum_ = block_of(std::vector<float>(16, 0), DType::kFloat32);
  std::unique_ptr<devices::Update> update_;
  std::uint64_t before_ = 0;
};

TEST_F(DeviceUpdateTest, AStepCopiesNothing) {
  train_one_step();
  EXPECT_EQ(weight_[0].item<float>(), 1 - 0.5F * 3);
  train_one_step();
  EXPECT_EQ(weight_[0].item<float>(), 1 - 0.5F * 3 - 0.5F * (0.9F * 3 + 3));
  EXPECT_EQ(link_->all().both(), before_);
  EXPECT_EQ(host_parameters()[0], 1) << "the host still has the initial values";
}

TEST_F(DeviceUpdateTest, ReadersSeeTheParametersAndASnapshotAlsoTheState) {
  train_one_step();
  arena_.publish_to_readers();
  EXPECT_EQ(host_parameters()[3], -0.5F);
  EXPECT_EQ(momentum_.as<float>()[3], 0);
  EXPECT_EQ(link_->of(Purpose::kReaders).to_host, 128u);
  arena_.publish_for_snapshot();
  EXPECT_EQ(momentum_.as<float>()[3], 3);
  EXPECT_EQ(link_->of(Purpose::kSnapshot).to_host, 192u);
}

TEST_F(DeviceUpdateTest, ARestoredCheckpointReachesTheState) {
  info_.blocks[0].data.as<float>()[0] = 5;
  momentum_.as<float>()[0] = 10;
  ArenaEdit(arena_).fetch_all();
  EXPECT_EQ(weight_[0].item<float>(), 5);
  train_one_step();
  EXPECT_EQ(weight_[0].item<float>(), 5 - 0.5F * (0.9F * 10 + 3));
}

TEST_F(DeviceUpdateTest, AnEditStaysOnTheDevice) {
  ArenaEdit(arena_).parameters().fill_(7);
  EXPECT_EQ(host_parameters()[0], 1);
  EXPECT_EQ(link_->all().both(), before_);
  train_one_step();
  EXPECT_EQ(weight_[0].item<float>(), 7 - 0.5F * 3);
}

TEST(ArenaTest, AnArenaInHostMemoryOffersNoDevice) {
  const at::Tensor weight = at::ones({4}).set_requires_grad(true);
  const Arena arena({{"weight", weight}}, {}, &zeroed);
  EXPECT_EQ(arena.info(0, "cpu", "").device_arena, nullptr);
}

TEST(ArenaTest, ParametersOfAServerAreUpdatedInHostMemory) {
  const at::Tensor weight = at::ones({4}).set_requires_grad(true);
  Arena arena({{"weight", weight}}, {}, &zeroed, own_memory());
  arena.serve_from(zeroed(64));
  EXPECT_EQ(arena.info(0, "cpu", "").device_arena, nullptr);
}

}  // namespace
}  // namespace trainyard
