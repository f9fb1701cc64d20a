// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/tcp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "collectives/rank_order.h"
#include "collectives/testing/contract.h"
#include "collectives/testing/ranks.h"
#include "collectives/testing/values.h"
#include "core/plugin/loader.h"

// collectives/contract_test.cpp tests the requirements for every collective, with the default parameters.

namespace trainyard::tcp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<Collective> make_tcp(const std::string& parameters, std::uint32_t rank, std::uint32_t size,
                                     core::Rendezvous& notes, core::PluginLoader& plugins) {
  CollectiveContext context;
  context.where = "the test";
  context.plugins = &plugins;
  context.rendezvous = &notes;
  context.rank = rank;
  context.name = "world";
  for (std::uint32_t i = 0; i < size; ++i) context.ranks.push_back(i);
  context.timeout = 30s;
  return make_collective({"tcp", parameters}, context);
}

/// Runs `action` on every rank of a group with these parameters.
std::vector<testing::RankEnd> run(std::uint32_t size, const std::string& parameters,
                                  const std::function<void(Collective&, core::Rendezvous&)>& action) {
  return testing::run_threads(size, [&](std::uint32_t rank, core::Rendezvous& notes) {
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    const auto world = make_tcp(parameters, rank, size, notes, plugins);
    action(*world, notes);
    return "";
  });
}

class TcpTest : public ::testing::TestWithParam<const char*> {};
class TcpInRankOrderTest : public TcpTest {};

TEST_P(TcpTest, HoldsTheContract) {
  const auto ends = run(3, GetParam(), [](Collective& world, core::Rendezvous& notes) {
    for (const testing::ContractCheck& check : testing::contract_checks()) check.run(world, notes);
  });
  for (const testing::RankEnd& end : ends) EXPECT_TRUE(end.returned) << end.text;
}

/// Fills in values whose sums depend on the order of additions, and a few special ones such as -0 and NaN.
void fill(testing::Values& values, std::uint32_t rank) {
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    values.set(i, 1.0 / static_cast<double>(3 + i * 7 % 101 + rank) * (i % 3 == 0 ? -1 : 1));
  }
  values.set(1 + rank, -0.0);
  values.set(5, rank == 0 ? 0.0 : -0.0);
  values.set(9 + rank, std::numeric_limits<double>::quiet_NaN());
}

TEST_P(TcpInRankOrderTest, GivesTheBitsOfReducingInTheOrderOfTheRanks) {
  constexpr std::uint64_t kCount = 5003;
  for (const std::uint32_t size : {2u, 3u}) {
    const auto ends = run(size, GetParam(), [&](Collective& world, core::Rendezvous&) {
      for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
        for (const ReduceOp op : testing::all_ops()) {
          std::vector<testing::Values> inputs(size, testing::Values(dtype, kCount));
          for (std::uint32_t rank = 0; rank < size; ++rank) fill(inputs[rank], rank);
          std::vector<const void*> places;
          for (testing::Values& input : inputs) places.push_back(input.elements().data);
          testing::Values wanted = inputs[world.rank()];
          collectives::reduce_in_order(op, dtype, places, wanted.elements().data, kCount);
          testing::Values values = inputs[world.rank()];
          world.all_reduce(values.elements(), op).wait();
          if (values.text() == wanted.text()) continue;
          throw Error(Code::kInternal, "{} of {} has other bits", name_of(op), name_of(dtype));
        }
      }
    });
    for (const testing::RankEnd& end : ends) EXPECT_TRUE(end.returned) << size << " ranks: " << end.text;
  }
}

constexpr const char* kClear = R"({"encrypt": false})";
constexpr const char* kBulk = R"({"small_bytes": 0, "record_bytes": 4096, "streams": 1})";
constexpr const char* kClearBulk = R"({"small_bytes": 0, "record_bytes": 4096, "streams": 3, "encrypt": false})";
constexpr const char* kAnyOrder = R"({"small_bytes": 0, "record_bytes": 4096, "order": "any"})";

std::string name_of_parameters(const ::testing::TestParamInfo<const char*>& info) {
  constexpr const char* kNames[] = {"Clear", "Bulk", "ClearBulk", "AnyOrder"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(Parameters, TcpTest, ::testing::Values(kClear, kBulk, kClearBulk, kAnyOrder),
                         name_of_parameters);
INSTANTIATE_TEST_SUITE_P(Parameters, TcpInRankOrderTest, ::testing::Values(kClear, kBulk, kClearBulk),
                         name_of_parameters);

TEST(TcpParametersTest, DifferentParametersAreNamedWithTheirRanks) {
  const auto ends = testing::run_threads(2, [](std::uint32_t rank, core::Rendezvous& notes) {
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    make_tcp(rank == 0 ? "{}" : R"({"encrypt": false})", rank, 2, notes, plugins);
    return "";
  });
  for (const testing::RankEnd& end : ends) {
    EXPECT_EQ(end.code, Code::kInvalidArgument);
    EXPECT_THAT(end.text, AllOf(HasSubstr("the parameters of the ranks differ: rank 0 has streams = 2"),
                                HasSubstr("encrypt = true, rank 1 has streams = 2"), HasSubstr("encrypt = false")));
  }
}

TEST(TcpParametersTest, PortsAndInterfacesThatCannotBeUsedAreNamed) {
  const struct {
    const char* parameters;
    const char* text;
  } cases[] = {
      {R"({"ports": "30-20"})", "'30-20' is no range of ports"},
      {R"({"interface": "lp"})", "no network interface 'lp' that is up and has an address; did you mean 'lo'?"},
      {R"({"interface": "8.8.8.8"})", "no network interface '8.8.8.8' that is up and has an address"},
      {R"({"order": "rank"})", "did you mean 'ranks'?"},
  };
  for (const auto& one : cases) {
    for (const testing::RankEnd& end : run(2, one.parameters, [](Collective&, core::Rendezvous&) {})) {
      EXPECT_EQ(end.code, Code::kInvalidArgument);
      EXPECT_THAT(end.text, HasSubstr(one.text));
    }
  }
}

TEST(TcpParametersTest, PortsOfARangeAreUsed) {
  const auto ends =
      run(2, R"({"interface": "lo", "ports": "21000-21999"})", [](Collective& world, core::Rendezvous& notes) {
        const std::string endpoint = notes.get(fmt::format("world/tcp.endpoints.{}", world.rank()), 1s);
        const int port = std::stoi(endpoint.substr(endpoint.find(':') + 1));
        if (port < 21000 || port > 21999) throw Error(Code::kInternal, "it uses {}", endpoint);
      });
  for (const testing::RankEnd& end : ends) EXPECT_TRUE(end.returned) << end.text;
}

}  // namespace
}  // namespace trainyard::tcp
