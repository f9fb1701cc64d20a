// SPDX-License-Identifier: Apache-2.0
// Compares the updates of the test device with those of the optimizer on the processor.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "components/optimizer/host_update.h"
#include "devices/test_device/test_device.h"

namespace trainyard::test_device {
namespace {

using devices::Coefficients;
using devices::Formula;
using devices::HostRegion;
using devices::Purpose;
using devices::Region;
using devices::UpdateRange;

constexpr std::int64_t kElements = 1000;

Tensor block_of(DType dtype) {
  return {.dtype = dtype,
          .shape = {kElements},
          .offset = 0,
          .buffer = Buffer::heap(static_cast<std::size_t>(kElements) * size_of(dtype))};
}

/// Fills a block with random numbers from -1 to 1, or from 0 to 1.
void fill(const Tensor& block, std::mt19937& random, double lowest) {
  std::uniform_real_distribution<double> numbers(lowest, 1);
  for (std::int64_t i = 0; i < kElements; ++i) {
    const double number = numbers(random);
    std::byte* place = block.buffer.data() + static_cast<std::size_t>(i) * size_of(block.dtype);
    if (block.dtype == DType::kFloat64) *reinterpret_cast<double*>(place) = number;
    if (block.dtype == DType::kFloat32) *reinterpret_cast<float*>(place) = static_cast<float>(number);
    if (block.dtype == DType::kBFloat16) store(static_cast<float>(number), *reinterpret_cast<BFloat16*>(place));
    if (block.dtype == DType::kFloat16) store(static_cast<float>(number), *reinterpret_cast<Float16*>(place));
  }
}

Tensor copy_of(const Tensor& block) {
  Tensor copy = block_of(block.dtype);
  std::memcpy(copy.buffer.data(), block.buffer.data(), block.buffer.size());
  return copy;
}

Region on_device(TestDevice& device, devices::Stream& stream, const Tensor& block) {
  const Region region(device.allocate(block.buffer.size(), "block"));
  stream.to_device(region, HostRegion(block.buffer), Purpose::kState);
  return region;
}

std::vector<std::byte> bytes_of(devices::Stream& stream, const Region& region) {
  const Buffer buffer = Buffer::heap(region.bytes());
  stream.to_host(HostRegion(buffer), region, Purpose::kSnapshot);
  return {buffer.data(), buffer.data() + buffer.size()};
}

std::vector<std::byte> bytes_of(const Tensor& block) {
  return {block.buffer.data(), block.buffer.data() + block.buffer.size()};
}

class UpdateTest : public ::testing::TestWithParam<DType> {};

TEST_P(UpdateTest, EveryFormulaHasTheBitsOfTheOptimizerOnTheProcessor) {
  std::mt19937 random(3);
  for (std::size_t formula = 0; formula < devices::kFormulas; ++formula) {
    SCOPED_TRACE(formula);
    const Tensor parameters = block_of(GetParam()), gradients = block_of(GetParam());
    fill(parameters, random, -1);
    fill(gradients, random, -1);
    devices::UpdateRequest request{
        .formula = static_cast<Formula>(formula), .ranges = {{0, 7}, {7, 600}, {700, 300}}, .state = {}};
    for (std::size_t i = 0; i < devices::states_of(request.formula); ++i) {
      request.state.push_back(block_of(devices::state_type_of(GetParam())));
      fill(request.state.back(), random, 0);
    }
    const Tensor new_gradients = copy_of(gradients);

    TestDevice device;
    const auto stream = device.adopt_stream("compute", nullptr);
    devices::UpdateRegions regions{
        GetParam(), on_device(device, *stream, parameters), on_device(device, *stream, gradients), {}};
    for (const Tensor& state : request.state) regions.state.push_back(on_device(device, *stream, state));

    const auto on_test_device = device.make_update(*stream, request, regions);
    optimizer::HostUpdate on_host(request, parameters, gradients);
    const Coefficients<double> first{.gradient_scale = 0.5,
                                     .weight_decay = 0.01,
                                     .keep = 0.999,
                                     .step_size = 0.1,
                                     .decay1 = 0.9,
                                     .gain1 = 0.1,
                                     .decay2 = 0.99,
                                     .gain2 = 0.01,
                                     .root_scale = 1.3,
                                     .eps = 1e-3,
                                     .root_divisor = 0.7};
    Coefficients<double> second = first;
    second.step_size = 0.03;
    for (int step = 0; step < 3; ++step) {
      stream->to_device(regions.gradients, HostRegion(new_gradients.buffer), Purpose::kGradients);
      std::memcpy(gradients.buffer.data(), new_gradients.buffer.data(), new_gradients.buffer.size());
      const std::vector<Coefficients<double>> coefficients{first, second, first};
      on_test_device->run(coefficients);
      on_host.run(coefficients);
    }
    EXPECT_TRUE(bytes_of(*stream, regions.parameters) == bytes_of(parameters));
    EXPECT_TRUE(bytes_of(*stream, regions.gradients) == bytes_of(gradients));
    for (std::size_t i = 0; i < request.state.size(); ++i) {
      EXPECT_TRUE(bytes_of(*stream, regions.state[i]) == bytes_of(request.state[i])) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, UpdateTest,
                         ::testing::Values(DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kFloat16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace trainyard::test_device
