// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "accelerators/accelerator.h"
#include "accelerators/testing/contract.h"
#include "core/memory/shared_pool.h"
#include "core/plugin/loader.h"
#include "core/testing/error_of.h"
#include "core/testing/plugins.h"
#include "core/traits/plugin_traits.h"
#include "tensors/precision.h"

// Tests the rules that every accelerator must obey, on all accelerator plugins of the build, including those that are
// added later. If this machine does not have the device of an accelerator, its test is skipped, and states the reason.

namespace trainyard {
namespace {

using ::testing::HasSubstr;

bool equal_bits(const at::Tensor& one, const at::Tensor& other) {
  return one.scalar_type() == other.scalar_type() && one.sizes() == other.sizes() &&
         (one.numel() == 0 ||
          std::memcmp(one.contiguous().data_ptr(), other.contiguous().data_ptr(), one.nbytes()) == 0);
}

/// Returns tensors of all types that occur in batches. The tests compare every bit of them.
std::vector<at::Tensor> batch() {
  return {at::rand({5, 3, 4}), at::arange(12, at::kLong).view({3, 4}), at::arange(256, at::kInt).to(at::kByte),
          at::rand({3, 5}).t(), at::rand({0, 4})};
}

class AcceleratorContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  AcceleratorContractTest() {
    context_.where = "accelerator '" + GetParam() + "'";
    context_.parameters = case_.parameters;
    context_.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    context_.pool = &pool_;
    accelerator_ = plugins_.create<Accelerator>(GetParam(), context_);
    accelerator_->check_all_given_are_known();
  }

  std::string absence() const {
    return fmt::format("there is no such device here: {}", accelerator_->find_devices().problem);
  }

  testing::TemporaryFolder folder_;
  testing::AcceleratorCase case_ = testing::AcceleratorContract::of(GetParam(), folder_);
  core::PluginLoader plugins_{core::PluginLoader::default_directories()};
  core::SharedPool pool_;
  AcceleratorContext context_;
  std::unique_ptr<Accelerator> accelerator_;
};

#define SKIP_WITHOUT_DEVICE() \
  if (!accelerator_->is_available()) GTEST_SKIP() << absence()

TEST_P(AcceleratorContractTest, SaysWhatIsThereAndWhyNot) {
  const FoundDevices found = accelerator_->find_devices();
  EXPECT_GE(found.count, 0);
  EXPECT_EQ(accelerator_->is_available(), found.count > 0);
  EXPECT_EQ(accelerator_->find_devices().count, found.count) << "asked again";
  if (found.count > 0) {
    EXPECT_EQ(found.problem, "");
  }
  const auto report = std::get<AcceleratorReport>(accelerator_->declared_traits().of_kind);
  EXPECT_EQ(report.available(), found.count > 0);
  EXPECT_EQ(report.devices, found.count);
}

TEST_P(AcceleratorContractTest, ItsRulesAreOnesThatPlansUnderstand) {
  const AcceleratorTraits traits = accelerator_->traits();
  EXPECT_FALSE(traits.precisions.empty());
  for (const std::string& precision : traits.precisions) {
    EXPECT_THAT(precision_names(), ::testing::Contains(precision));
  }
  for (const int count : traits.device_counts) EXPECT_GT(count, 0);
  EXPECT_GE(traits.auto_priority, 0);
}

TEST_P(AcceleratorContractTest, DevicesThatDoNotExistAreRefused) {
  const int count = accelerator_->device_count();
  for (const int wrong : {-1, count, count + 1000}) {
    const auto [code, text] = testing::error_of([&] { accelerator_->claim(wrong); });
    EXPECT_EQ(code, Code::kNotFound) << wrong;
    EXPECT_THAT(text, HasSubstr(fmt::format("there is no device {}; there are {}", wrong, count)));
  }
  EXPECT_THROW(accelerator_->parse_devices(fmt::format("[{}]", count)), Error);
  EXPECT_THROW(accelerator_->parse_devices("0"), Error);
}

TEST_P(AcceleratorContractTest, RequestsAreAnsweredWithDevicesThatExist) {
  SKIP_WITHOUT_DEVICE();
  for (const char* request : {"1", "[0]"}) {
    const std::vector<int> devices = accelerator_->parse_devices(request);
    EXPECT_FALSE(devices.empty()) << request;
    for (const int device : devices) {
      EXPECT_TRUE(device >= 0 && device < accelerator_->device_count()) << request << ": " << device;
    }
  }
}

TEST_P(AcceleratorContractTest, ABatchComesBackFromTheDeviceBitForBit) {
  SKIP_WITHOUT_DEVICE();
  const auto device = accelerator_->claim(0);
  EXPECT_FALSE(device->name().empty());
  const std::vector<at::Tensor> sources = batch();
  std::vector<at::Tensor> kept;
  for (const at::Tensor& source : sources) kept.push_back(source.clone());
  const std::vector<at::Tensor> moved = device->to_device(sources);
  ASSERT_EQ(moved.size(), sources.size());
  const bool own_memory = !moved[0].is_cpu();
  for (std::size_t i = 0; i < moved.size(); ++i) {
    EXPECT_EQ(moved[i].device().type(), device->torch_device().type()) << i;
    if (own_memory) sources[i].zero_();  // They may be overwritten as soon as the tensors have been moved.
  }
  device->synchronize();
  for (std::size_t i = 0; i < moved.size(); ++i) EXPECT_TRUE(equal_bits(moved[i].to(at::kCPU), kept[i])) << i;
}

TEST_P(AcceleratorContractTest, ABlockGoesToTheDeviceAndComesBack) {
  SKIP_WITHOUT_DEVICE();
  const auto device = accelerator_->claim(0);
  const at::Tensor host = at::rand({1000});
  at::Tensor there = at::empty({1000}, at::TensorOptions().device(device->torch_device()).dtype(at::kFloat));
  at::Tensor back = at::zeros_like(host);
  device->copy_block(there, host);
  device->copy_block(back, there);
  EXPECT_TRUE(equal_bits(back, host)) << "complete on return, without synchronize()";
}

TEST_P(AcceleratorContractTest, HostBlocksAreZeroedAndAligned) {
  SKIP_WITHOUT_DEVICE();
  const auto device = accelerator_->claim(0);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{100'001}}) {
    const Buffer block = device->allocate_host_block(bytes);
    ASSERT_GE(block.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u);
    EXPECT_TRUE(std::ranges::all_of(block.bytes(), [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

TEST_P(AcceleratorContractTest, ASeedAndAStateGiveTheSameNumbersOnHostAndDevice) {
  SKIP_WITHOUT_DEVICE();
  const auto device = accelerator_->claim(0);
  const auto draw = [&] {
    const at::Tensor on_device = at::rand({5}, at::TensorOptions().device(device->torch_device()));
    return std::pair(at::rand({5}), on_device.to(at::kCPU));
  };
  const auto same = [](const auto& one, const auto& other) {
    return equal_bits(one.first, other.first) && equal_bits(one.second, other.second);
  };
  device->seed(7);
  const auto first = draw();
  const std::vector<std::uint8_t> state = device->rng_state();
  const auto second = draw();
  device->seed(7);
  EXPECT_TRUE(same(draw(), first));
  device->seed(8);
  EXPECT_FALSE(same(draw(), first)) << "another seed";
  device->set_rng_state(state);
  EXPECT_TRUE(same(draw(), second));
}

TEST_P(AcceleratorContractTest, AStateOfOtherGeneratorsIsRefused) {
  SKIP_WITHOUT_DEVICE();
  const auto device = accelerator_->claim(0);
  std::vector<std::uint8_t> state = device->rng_state();
  state.pop_back();
  const auto [code, text] = testing::error_of([&] { device->set_rng_state(state); });
  EXPECT_EQ(code, Code::kCorrupt);
  EXPECT_THAT(text, HasSubstr("accelerator '" + GetParam() + "'"));
}

TEST_P(AcceleratorContractTest, StatisticsAreNumbersWithNames) {
  SKIP_WITHOUT_DEVICE();
  const auto device = accelerator_->claim(0);
  device->to_device(batch());
  device->synchronize();
  for (const auto& [name, value] : device->stats()) {
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_GE(value, 0) << name;
  }
}

TEST_P(AcceleratorContractTest, IsDescribedWithoutParameters) {
  const PluginEntry& entry = plugins_.load(plugins_.find(Accelerator::kKind, GetParam()));
  const std::unique_ptr<Configurable> described(core::PluginLoader::describe(entry, "the contract test"));
  EXPECT_FALSE(std::get<AcceleratorReport>(described->declared_traits().of_kind).traits.precisions.empty());
}

INSTANTIATE_TEST_SUITE_P(EveryAccelerator, AcceleratorContractTest,
                         ::testing::ValuesIn(testing::plugins_of_kind(Accelerator::kKind)),
                         [](const auto& info) { return testing::camel_case(info.param); });

}  // namespace
}  // namespace trainyard
