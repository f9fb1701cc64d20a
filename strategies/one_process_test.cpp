// SPDX-License-Identifier: Apache-2.0
#include "strategies/one_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "collectives/testing/pretended.h"
#include "core/testing/error_of.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Makes the simulated other rank answer with the text of this rank, but with a different first digit of the process
/// id.
void answer_like_another_process(const collectives::Operation& operation) {
  const std::size_t half = operation.bytes() / 2;
  auto* second = static_cast<char*>(operation.data.data) + half;
  std::memcpy(second, operation.data.data, half);
  constexpr std::size_t kDigit = std::char_traits<char>::length("process ");
  if (operation.data.dtype == DType::kUInt8) second[kDigit] = 'x';
}

TEST(OneProcessTest, ARankOfAnotherProcessIsRefusedAndBothAreNamed) {
  CollectiveContext context;
  context.parameters = "{}";
  context.ranks = {0, 1};
  testing::PretendedOthers other{.move = answer_like_another_process};
  auto group = std::make_unique<testing::PretendedGroup>(context, other);
  group->connect();
  RankGroup ranks(std::move(group));
  const auto [code, text] = testing::error_of([&] { check_one_process(ranks, "strategy 'dp'"); });
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, AllOf(HasSubstr("strategy 'dp': all ranks must be threads of one process; rank 0 is in process "),
                          HasSubstr(", rank 1 in process x"), HasSubstr("use strategy = 'ddp'")));
}

TEST(OneProcessTest, ARankAloneIsFine) {
  RankGroup alone;
  check_one_process(alone, "here");
}

}  // namespace
}  // namespace trainyard
