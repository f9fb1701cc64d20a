#include "strategies/dp/dp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/testing/error_of.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two ranks, of which the other says what this one says, but for the first digit of its process.
class TwoRanks final : public Collective {
 public:
  explicit TwoRanks(CollectiveContext& context) : Collective(context) {}

  void connect() override {}
  Work all_reduce(Elements, ReduceOp) override { return {}; }
  Work broadcast(Elements, std::uint32_t) override { return {}; }
  Work reduce_scatter(Elements, ReduceOp, std::span<const std::uint64_t>) override { return {}; }
  Work barrier() override { return {}; }
  Work send(Elements, std::uint32_t) override { return {}; }
  Work recv(Elements, std::uint32_t) override { return {}; }
  Work all_gather(Elements data, std::span<const std::uint64_t>) override {
    const std::size_t half = data.bytes() / 2;
    auto* second = static_cast<char*>(data.data) + half;
    std::memcpy(second, data.data, half);
    constexpr std::size_t kDigit = std::char_traits<char>::length("process ");
    if (data.dtype == DType::kUInt8) second[kDigit] = 'x';
    return {};
  }

 protected:
  void wait(std::uint64_t) override {}
  bool done(std::uint64_t) override { return true; }
};

TEST(DpTest, RefusesARankOfAnotherProcessAndNamesBoth) {
  StrategyContext context;
  context.where = "strategy 'dp'";
  context.parameters = "{}";
  Dp strategy(context);
  EXPECT_TRUE(strategy.traits().one_process);
  CollectiveContext group;
  group.parameters = "{}";
  group.ranks = {0, 1};
  TwoRanks world(group);
  const auto [code, text] = testing::error_of([&] { strategy.set_up({.world = &world}); });
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, AllOf(HasSubstr("strategy 'dp': all ranks must be threads of one process; rank 0 is in process "),
                          HasSubstr(", rank 1 in process x"), HasSubstr("use strategy = 'ddp'")));
}

}  // namespace
}  // namespace trainyard
