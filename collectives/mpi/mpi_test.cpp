// SPDX-License-Identifier: Apache-2.0
#include "collectives/mpi/mpi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "collectives/testing/contract.h"
#include "core/plugin/loader.h"
#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::collectives {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFolder = "TRAINYARD_MPI_TEST_FOLDER";

CollectiveContext context_of(core::PluginLoader& plugins, core::Rendezvous& notes, std::uint32_t rank,
                             const std::string& name, std::vector<std::uint32_t> ranks) {
  CollectiveContext context;
  context.where = "the test";
  context.plugins = &plugins;
  context.rendezvous = &notes;
  context.rank = rank;
  context.name = name;
  context.ranks = std::move(ranks);
  return context;
}

/// Returns the number in an environment variable that mpirun has set, or 0 if it is not set.
std::uint32_t number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : static_cast<std::uint32_t>(std::atoi(text));
}

// The test that mpirun runs in each process: a group of all ranks, and another one in which the ranks are numbered in
// the opposite order to MPI's.
TEST(MpiTest, DISABLED_Rank) {
  ASSERT_NE(std::getenv(kFolder), nullptr) << "for mpirun alone";
  const auto notes = core::make_folder_rendezvous(std::getenv(kFolder));
  const std::uint32_t size = number_of("OMPI_COMM_WORLD_SIZE");
  const std::uint32_t rank = size - 1 - number_of("OMPI_COMM_WORLD_RANK");
  core::PluginLoader plugins(core::PluginLoader::default_directories());
  std::vector<std::uint32_t> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto world = make_collective({"mpi"}, context_of(plugins, *notes, rank, "world", ranks));
  for (const testing::ContractCheck& check : testing::contract_checks()) {
    EXPECT_EQ(testing::error_of([&] { check.run(*world, *notes); }).second, "") << check.name;
  }
  const std::vector<std::uint32_t> without_first(ranks.begin() + 1, ranks.end());
  if (rank > 0) {
    const auto part = make_collective({"mpi"}, context_of(plugins, *notes, rank, "part", without_first));
    std::int64_t sum = rank;
    part->all_reduce({&sum, DType::kInt64, 1}, ReduceOp::kSum).wait();
    EXPECT_EQ(sum, size * (size - 1) / 2);
  }
  std::vector<float> values(rank == 0 ? 3 : 4);
  Work work = world->all_reduce({values.data(), DType::kFloat32, values.size()}, ReduceOp::kSum);
  const auto [code, text] = testing::error_of([&] { work.wait(); });
  EXPECT_EQ(code, Code::kShapeMismatch);
  EXPECT_THAT(text, HasSubstr("rank 0 asked for all_reduce(sum) of float32[3]"));
}

class MpiRunTest : public ::testing::TestWithParam<int> {};

TEST_P(MpiRunTest, HoldsTheContract) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun is not installed";
  const testing::TemporaryFolder folder;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  // mpirun uses only the loopback interface. There may be more ranks than processors.
  const std::string command = fmt::format(
      "mpirun -n {} --allow-run-as-root --oversubscribe --mca oob_tcp_if_include lo --mca mpi_yield_when_idle 1 "
      "-x {}='{}' '{}' --gtest_also_run_disabled_tests --gtest_filter=MpiTest.DISABLED_Rank > '{}' 2>&1",
      GetParam(), kFolder, folder.path("notes"), program, folder.path("log"));
  const int status = std::system(command.c_str());
  std::ifstream log(folder.path("log"));
  EXPECT_EQ(status, 0) << log.rdbuf();
}

INSTANTIATE_TEST_SUITE_P(Ranks, MpiRunTest, ::testing::Values(2, 3, 4));

TEST(MpiTest, SaysThatMpirunIsNeeded) {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) GTEST_SKIP() << "started by mpirun";
  const auto notes = core::make_local_rendezvous();
  core::PluginLoader plugins(core::PluginLoader::default_directories());
  // The error comes before rank 0 would wait for rank 1, which does not exist.
  const auto [code, text] = testing::error_of([&] {
    make_collective({"mpi"}, context_of(plugins, *notes, 0, "world", {0, 1}));
  });
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, HasSubstr("was not started by mpirun; start the ranks with it, or choose another collective"));
}

}  // namespace
}  // namespace trainyard::collectives
