// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "devices/cuda/testing/gpu.h"
#include "devices/device.h"
#include "messages/error.h"
#include "messages/half.h"

namespace trainyard {
namespace {

using devices::Coefficients;
using devices::Formula;
using devices::Purpose;
using devices::Region;
using devices::states_of;

constexpr std::size_t kCount = 100'003;  ///< Several chunks, and a rest that fills no pack.
constexpr std::chrono::milliseconds kLimit{20'000};

Coefficients<double> coefficients(double step_size, double weight_decay) {
  return {.gradient_scale = 0.5,
          .weight_decay = weight_decay,
          .keep = 0.999,
          .step_size = step_size,
          .decay1 = 0.9,
          .gain1 = 0.1,
          .decay2 = 0.99,
          .gain2 = 0.01,
          .root_scale = 1.7,
          .eps = 1e-8,
          .root_divisor = 0.6};
}

/// How parameters and gradients are stored, and the type in which they are computed, which is that of the state.
template <class S, class C, DType kName>
struct As {
  using Stored = S;
  using Computed = C;
  static constexpr DType kType = kName;
  static S stored(C x) {
    if constexpr (std::is_same_v<S, C>) return x;
    if constexpr (!std::is_same_v<S, C>) {
      S to;
      store(x, to);
      return to;
    }
  }
  static C loaded(S x) {
    if constexpr (std::is_same_v<S, C>) return x;
    if constexpr (!std::is_same_v<S, C>) return load(x);
  }
};

template <class T>
Buffer buffer_of(const std::vector<T>& values) {
  Buffer buffer = Buffer::heap(values.size() * sizeof(T));
  std::memcpy(buffer.data(), values.data(), buffer.size());
  return buffer;
}
template <class T>
std::vector<T> values_in(const Buffer& buffer) {
  std::vector<T> values(buffer.size() / sizeof(T));
  std::memcpy(values.data(), buffer.data(), buffer.size());
  return values;
}

class FusedUpdateTest : public cuda_device::GpuTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  Formula formula() const { return static_cast<Formula>(GetParam()); }

  template <class T>
  Region on_gpu(devices::Stream& stream, const std::vector<T>& values, const char* what) {
    const Region region(device().allocate(values.size() * sizeof(T), what));
    stream.to_device(region, devices::HostRegion(buffer_of(values)), Purpose::kState);
    return region;
  }
  template <class T>
  static std::vector<T> on_host(devices::Stream& stream, const Region& region) {
    const Buffer buffer = Buffer::heap(region.bytes());
    stream.to_host(devices::HostRegion(buffer), region, Purpose::kState);
    stream.drain(kLimit);
    return values_in<T>(buffer);
  }

  /// Returns the bits of numbers that are drawn from a normal distribution.
  template <class Type>
  static std::vector<typename Type::Stored> drawn(std::mt19937& random) {
    std::normal_distribution<double> normal;
    std::vector<typename Type::Stored> values(kCount);
    for (auto& value : values) value = Type::stored(static_cast<typename Type::Computed>(normal(random)));
    return values;
  }
  /// The first state is the mean of squares in some rules, and the second one the mean, whose square is smaller.
  template <class A>
  static std::vector<A> drawn_state(std::mt19937& random, std::size_t index) {
    std::normal_distribution<double> normal;
    std::vector<A> values(kCount);
    for (A& value : values) {
      value = static_cast<A>(std::min(std::abs(normal(random)), 1.5)) + static_cast<A>(index == 0 ? 4 : 0);
    }
    return values;
  }

  /// Updates the elements of a range as the rule says.
  template <class Type>
  void update_on_host(const devices::UpdateRange& range, const Coefficients<double>& given,
                      std::vector<typename Type::Stored>& parameters, std::vector<typename Type::Stored>& gradients,
                      std::vector<std::vector<typename Type::Computed>>& state) const {
    using A = typename Type::Computed;
    const Coefficients<A> c = devices::rounded<A>(given);
    devices::with_rule(formula(), [&](auto rule) {
      for (std::size_t i = range.begin; i < range.begin + range.count; ++i) {
        A none[3] = {};
        const auto of = [&](std::size_t s) -> A& { return s < state.size() ? state[s][i] : none[s]; };
        const A g = Type::loaded(gradients[i]) * c.gradient_scale;
        parameters[i] = Type::stored(decltype(rule)::update(Type::loaded(parameters[i]), g, of(0), of(1), of(2), c));
        gradients[i] = Type::stored(0);
      }
    });
  }

  /// Runs three steps on the GPU and by the rule, and compares all values. The last elements belong to no range.
  template <class Type>
  void compare(double tolerance) {
    using Stored = typename Type::Stored;
    using A = typename Type::Computed;
    std::mt19937 random(5);
    std::vector<Stored> parameters = drawn<Type>(random), gradients = drawn<Type>(random);
    std::vector<std::vector<A>> state;
    for (std::size_t s = 0; s < states_of(formula()); ++s) state.push_back(drawn_state<A>(random, s));
    const auto stream = device().make_stream("update");
    devices::UpdateRegions regions{
        Type::kType, on_gpu(*stream, parameters, "parameters"), on_gpu(*stream, gradients, "gradients"), {}};
    for (const auto& values : state) regions.state.push_back(on_gpu(*stream, values, "state"));
    const devices::UpdateRequest request{formula(), {{0, 64}, {64, 50'000}, {50'064, kCount - 50'080}}, {}};
    const auto update = device().make_update(*stream, request, regions);
    for (int step = 1; step <= 3; ++step) {
      gradients = drawn<Type>(random);
      stream->to_device(regions.gradients, devices::HostRegion(buffer_of(gradients)), Purpose::kGradients);
      const std::vector<Coefficients<double>> sets{coefficients(0.1 / step, 0.01), coefficients(0.1 / step, 0),
                                                   coefficients(0.1 / step, 0.01)};
      for (std::size_t r = 0; r < sets.size(); ++r) {
        update_on_host<Type>(request.ranges[r], sets[r], parameters, gradients, state);
      }
      update->run(sets);
    }
    expect_equal<Type>(on_host<Stored>(*stream, regions.parameters), parameters, tolerance);
    expect_equal<Type>(on_host<Stored>(*stream, regions.gradients), gradients, 0);
    for (std::size_t s = 0; s < state.size(); ++s) {
      const std::vector<A> found = on_host<A>(*stream, regions.state[s]);
      for (std::size_t i = 0; i < kCount; ++i) ASSERT_TRUE(near(found[i], state[s][i], tolerance)) << s << " " << i;
    }
  }

  template <class Type>
  static void expect_equal(const std::vector<typename Type::Stored>& found,
                           const std::vector<typename Type::Stored>& expected, double tolerance) {
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_TRUE(near(Type::loaded(found[i]), Type::loaded(expected[i]), tolerance)) << i;
    }
  }
  static bool near(double found, double expected, double tolerance) {
    return std::isfinite(found) && std::abs(found - expected) <= tolerance * (1 + std::abs(expected));
  }
};

TEST_P(FusedUpdateTest, HasTheBitsOfTheProcessorInSinglePrecision) { compare<As<float, float, DType::kFloat32>>(0); }
TEST_P(FusedUpdateTest, FollowsTheRuleInDoublePrecision) { compare<As<double, double, DType::kFloat64>>(1e-14); }
TEST_P(FusedUpdateTest, RoundsBFloat16AsTheProcessor) { compare<As<BFloat16, float, DType::kBFloat16>>(0); }
TEST_P(FusedUpdateTest, RoundsFloat16AsTheProcessor) { compare<As<Float16, float, DType::kFloat16>>(0); }

INSTANTIATE_TEST_SUITE_P(Formulas, FusedUpdateTest, ::testing::Range(std::size_t{0}, devices::kFormulas));

class FusedUpdateManyTest : public cuda_device::GpuTest {
 protected:
  static constexpr std::uint64_t kRanges = 100, kEach = 32;
};

TEST_F(FusedUpdateManyTest, MoreSetsOfCoefficientsThanOneLaunchTakesAndThenFewer) {
  const auto stream = device().make_stream("update");
  const Region parameters(device().allocate(kRanges * kEach * sizeof(float), "parameters"));
  const Region gradients(device().allocate(kRanges * kEach * sizeof(float), "gradients"));
  const Buffer ones = buffer_of(std::vector<float>(kRanges * kEach, 1.0f));
  devices::UpdateRequest request{Formula::kSgd, {}, {}};
  std::vector<Coefficients<double>> sets;
  for (std::uint64_t i = 0; i < kRanges; ++i) {
    request.ranges.push_back({i * kEach, kEach});
    sets.push_back({.step_size = static_cast<double>(i)});
  }
  const auto update = device().make_update(*stream, request, {DType::kFloat32, parameters, gradients, {}});
  stream->to_device(parameters, devices::HostRegion(ones), Purpose::kState);
  stream->to_device(gradients, devices::HostRegion(ones), Purpose::kState);
  update->run(sets);
  stream->to_device(gradients, devices::HostRegion(ones), Purpose::kState);
  update->run(std::vector<Coefficients<double>>(kRanges, {.step_size = 0.5}));
  const Buffer back = Buffer::heap(parameters.bytes());
  stream->to_host(devices::HostRegion(back), parameters, Purpose::kState);
  stream->drain(kLimit);
  const std::vector<float> found = values_in<float>(back);
  for (std::uint64_t i = 0; i < kRanges; ++i) EXPECT_EQ(found[i * kEach + 7], 0.5f - static_cast<float>(i)) << i;
}

TEST_F(FusedUpdateManyTest, ARegionThatIsNotAlignedIsRefused) {
  const auto stream = device().make_stream("update");
  const Region block(device().allocate(1024, "parameters"));
  const devices::UpdateRegions regions{DType::kFloat32, block.part(4, 512), block.part(0, 512), {}};
  try {
    device().make_update(*stream, {Formula::kSgd, {{0, 128}}, {}}, regions);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "parameters begins at byte 4, and must begin at a multiple of 16 to be updated");
  }
}

}  // namespace
}  // namespace trainyard
