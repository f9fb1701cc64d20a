// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cpu/cpu.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/rand.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include <functional>
#include <thread>

#include "accelerators/cpu/host.h"
#include "messages/error.h"

namespace trainyard {
namespace {

AcceleratorContext context_with(const std::string& parameters) {
  AcceleratorContext context;
  context.where = "accelerator 'cpu'";
  context.parameters = parameters;
  context.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
  return context;
}

std::string text_of_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class CpuTest : public testing::Test {
 protected:
  AcceleratorContext context_ = context_with("{}");
  Cpu cpu_{context_};
  std::unique_ptr<ClaimedDevice> device_ = cpu_.claim(0);
};

TEST_F(CpuTest, AutoIsOneRankAndACountIsTheFirstDevices) {
  EXPECT_THAT(cpu_.parse_devices("1"), testing::ElementsAre(0));
  EXPECT_THAT(cpu_.parse_devices("[ 0 ]"), testing::ElementsAre(0));
}

TEST_F(CpuTest, MoreRanksThanCoresShareThem) {
  const int cores = cpu::usable_cores();
  const std::vector<int> devices = cpu_.parse_devices(std::to_string(cores + 1));
  ASSERT_EQ(devices.size(), static_cast<std::size_t>(cores) + 1);
  EXPECT_EQ(devices[static_cast<std::size_t>(cores) - 1], cores - 1);
  EXPECT_EQ(devices.back(), 0);
  EXPECT_TRUE(cpu_.traits().shared_devices) << "so a plan may ask for them";
}

TEST_F(CpuTest, RequestsThatCannotBeMetSayWhatThereIs) {
  const int cores = cpu::usable_cores();
  EXPECT_EQ(
      text_of_error([&] { cpu_.parse_devices("[0, 9999]"); }),
      fmt::format("accelerator 'cpu': devices = '[0, 9999]': there is no device 9999; there are {}, counted from 0",
                  cores));
  EXPECT_EQ(text_of_error([&] { cpu_.parse_devices("[0, 0]"); }),
            "accelerator 'cpu': devices = '[0, 0]' names device 0 twice; each may be named once");
  for (const char* wrong : {"two", "0", "-3", "[0", "[]", "[,]", "", "1.5"}) {
    EXPECT_THAT(text_of_error([&] { cpu_.parse_devices(wrong); }), testing::HasSubstr("allowed: a count ('2')"))
        << wrong;
  }
}

TEST_F(CpuTest, AutomaticPrecisionIsBFloat16WhereTheProcessorMultipliesIt) {
  const AcceleratorTraits traits = cpu_.traits();
  const bool fast = cpu::multiplies_bfloat16() && at::hasMKLDNN();
  EXPECT_EQ(traits.auto_precision, fast ? "bf16-mixed" : "32-true");
  EXPECT_THAT(traits.auto_precision_reason, testing::HasSubstr(fast ? "has instructions" : "has no "));
}

TEST_F(CpuTest, OnlyKernelsForAnOldProcessorCanBeImproved) {
  EXPECT_EQ(cpu::better_kernels("SkylakeX"), "");
  EXPECT_EQ(cpu::better_kernels("Zen"), "");
  EXPECT_EQ(cpu::better_kernels(""), "");
  EXPECT_THAT(cpu::better_kernels("Prescott"), testing::AnyOf("", "Haswell", "SkylakeX"));
}

TEST_F(CpuTest, TheSameSeedGivesTheSameNumbersAndTheStateContinuesThem) {
  device_->seed(7);
  const at::Tensor first = at::rand({5});
  const std::vector<std::uint8_t> state = device_->rng_state();
  const at::Tensor second = at::rand({5});
  device_->seed(7);
  EXPECT_TRUE(at::rand({5}).equal(first));
  device_->seed(8);
  device_->set_rng_state(state);
  EXPECT_TRUE(at::rand({5}).equal(second));
}

TEST_F(CpuTest, AStateOfAnotherLengthIsRefusedWithBothLengths) {
  EXPECT_THAT(
      text_of_error([&] {
        device_->set_rng_state({1, 2, 3});
      }),
      testing::MatchesRegex("accelerator 'cpu': a random generator state of 3 bytes was given, [0-9]+ are wanted: it "
                            "comes from another LibTorch or kind of accelerator"));
}

TEST_F(CpuTest, ThreadsComeFromTheParameter) {
  for (const char* one : {"1", "\"1\""}) {
    at::set_num_threads(2);
    AcceleratorContext context = context_with(fmt::format(R"({{"threads": {}}})", one));
    Cpu cpu(context);
    const auto device = cpu.claim(0);
    EXPECT_EQ(at::get_num_threads(), 1) << one;
    EXPECT_EQ(device->stats().at("threads"), 1) << one;
  }
}

TEST_F(CpuTest, AutomaticThreadsAreThoseThatTheUserHasAskedFor) {
  ::setenv("OMP_NUM_THREADS", "3,2", 1);
  EXPECT_EQ(cpu::automatic_threads(1), 3);
  EXPECT_EQ(cpu::automatic_threads(2), 3);
  ::setenv("OMP_NUM_THREADS", "", 1);
  EXPECT_EQ(cpu::automatic_threads(1), cpu::usable_cores());
}

TEST_F(CpuTest, AutomaticThreadsAreSharedByTheRanks) {
  ::unsetenv("OMP_NUM_THREADS");
  AcceleratorContext context = context_with("{}");
  context.world_size = 1000;
  Cpu cpu(context);
  cpu.claim(0);
  EXPECT_EQ(at::get_num_threads(), 1) << "never less than one";
}

TEST_F(CpuTest, WrongNumbersOfThreadsAreRefused) {
  for (const char* wrong : {"0", "-1", "many", "1.5", "2 "}) {
    AcceleratorContext context = context_with(fmt::format(R"({{"threads": "{}"}})", wrong));
    Cpu cpu(context);
    EXPECT_EQ(text_of_error([&] { cpu.claim(0); }),
              fmt::format("accelerator 'cpu': threads = '{}' is not allowed; a number >= 1, or 'auto'", wrong));
  }
}

TEST_F(CpuTest, PinningHoldsForTheThreadThatSetsUp) {
  std::thread([] {
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    int core = 0;
    while (!CPU_ISSET(core, &before)) ++core;
    AcceleratorContext context = context_with(fmt::format(R"({{"cpus": [{}]}})", core));
    const Cpu cpu(context);
    const auto device = cpu.claim(0);
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(core, &set));
  }).join();
}

TEST_F(CpuTest, NamedCoresAreSharedOutAmongTheRanks) {
  std::thread([] {
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one core only";
    std::vector<int> cores;
    for (int core = 0; cores.size() < 2; ++core) {
      if (CPU_ISSET(core, &before)) cores.push_back(core);
    }
    AcceleratorContext context = context_with(fmt::format(R"({{"cpus": [{}, {}]}})", cores[0], cores[1]));
    context.world_size = 2;
    context.rank = 1;
    Cpu cpu(context);
    const auto device = cpu.claim(0);
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(cores[1], &set));
    EXPECT_EQ(device->stats().at("threads"), 1) << "as many as it has cores";
  }).join();
}

TEST_F(CpuTest, FewerCoresThanRanksAreRefused) {
  AcceleratorContext context = context_with(R"({"cpus": [0]})");
  context.world_size = 2;
  Cpu cpu(context);
  EXPECT_EQ(text_of_error([&] { cpu.claim(0); }),
            "accelerator 'cpu': cpus names 1 cores for 2 ranks; every rank needs one");
}

TEST_F(CpuTest, CoresThatDoNotExistAreRefused) {
  EXPECT_THAT(text_of_error([] { cpu::pin_to_cores({1 << 20}); }),
              testing::HasSubstr("1048576 is not a core; allowed: 0 to"));
  EXPECT_THAT(text_of_error([] { cpu::pin_to_cores({1023}); }), testing::HasSubstr("the system refuses"));
}

TEST_F(CpuTest, StatsAndTraitsAreThere) {
  EXPECT_GT(device_->stats().at("memory_bytes"), 1e6);
  EXPECT_GT(device_->stats().at("cpu_seconds"), 0);
  EXPECT_TRUE(cpu_.is_available());
  EXPECT_THAT(cpu_.traits().precisions, ::testing::IsSupersetOf({"64-true", "32-true", "bf16-mixed", "16-mixed"}));
}

TEST_F(CpuTest, TensorsOnTheCpuAreNotCopied) {
  const at::Tensor tensor = at::rand({3});
  EXPECT_EQ(device_->to_device({tensor})[0].data_ptr(), tensor.data_ptr());
}

TEST(BlasTest, TheLoadedLibraryIsNamed) {
  const cpu::Blas blas = cpu::loaded_blas();
  EXPECT_FALSE(blas.path.empty());
  EXPECT_EQ(blas.reference, blas.path.find("/blas/") != std::string::npos);
}

}  // namespace
}  // namespace trainyard
