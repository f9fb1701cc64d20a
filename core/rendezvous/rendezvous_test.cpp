// SPDX-License-Identifier: Apache-2.0
#include "core/rendezvous/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::core {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RendezvousTest : public ::testing::TestWithParam<bool> {
 protected:
  testing::TemporaryFolder folder_;
  std::unique_ptr<Rendezvous> notes_ =
      GetParam() ? make_folder_rendezvous(folder_.path() + "/notes") : make_local_rendezvous();
};

TEST_P(RendezvousTest, GivesEveryRankTheTextsOfAllInTheirOrder) {
  std::vector<std::vector<std::string>> got(3);
  std::vector<std::thread> ranks;
  for (const std::uint32_t rank : {2u, 0u, 1u}) {
    ranks.emplace_back([&, rank] {
      got[rank] = exchange(*notes_, "world/arena", rank, {0, 1, 2}, "of " + std::to_string(rank), 20s);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (const auto& texts : got) EXPECT_THAT(texts, ElementsAre("of 0", "of 1", "of 2"));
}

TEST_P(RendezvousTest, NamesThoseThatDidNotCome) {
  notes_->put("start.1", "here");
  EXPECT_EQ(testing::error_of([&] {
              exchange(*notes_, "start", 0, {0, 1, 2, 3}, "", 10ms);
            }).second,
            "rank 0 waited 0.01 s at 'start' for ranks 2, 3, which did not come");
  EXPECT_THAT(testing::error_of([&] { notes_->get("nothing", 1ms); }).second, HasSubstr("'nothing'"));
}

TEST_P(RendezvousTest, KeepsBytesAsTheyAreAndRefusesStrangeKeys) {
  const std::string bytes("a\0b\n", 4);
  notes_->put("some/key", bytes);
  EXPECT_EQ(notes_->get("some/key", 1s), bytes);
  EXPECT_THAT(testing::error_of([&] { notes_->put("../x y", ""); }).second, HasSubstr("is not allowed"));
}

INSTANTIATE_TEST_SUITE_P(Both, RendezvousTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Folder" : "Local"; });

}  // namespace
}  // namespace trainyard::core
