// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using visitors::ComponentShares;
using visitors::Observation;

class TopViewTest : public ::testing::Test {
 protected:
  TopViewTest() {
    add("data_loader", "main", 0.98, {{"accelerator_host", "room", 0.01}});
    add("accelerator_host", "main", 0.07, {{"data_loader", "message", 0.91}, {"thread", "thread", 0.004}});
    observation_.processes.push_back({.name = "main", .pid = 4711, .cpu = 1.31, .memory_bytes = 412ull << 20});
    observation_.edges.push_back({.number = 1,
                                  .topic = "/batches",
                                  .from = "data_loader",
                                  .to = "accelerator_host",
                                  .policy = "block",
                                  .messages_per_s = 336.6,
                                  .bytes_per_s = 1e6,
                                  .under_way = 3,
                                  .window = 4});
    observation_.bottlenecks.push_back({"data_loader", 0.91});
    headline_ = {.run = "mnist-9ix",
                 .step = 4310,
                 .total_steps = 18740,
                 .loss = 0.08142,
                 .units_per_s = 21530,
                 .unit = "sample"};
  }

  void add(const std::string& name, const std::string& process, double busy,
           std::vector<ComponentShares::Share> waiting) {
    visitors::ObservedNode node{.name = name, .plugin = name, .process = process, .state = "active", .pid = 4711};
    node.shares = ComponentShares{.component = name, .seconds = 1, .busy = busy, .waiting = std::move(waiting)};
    observation_.nodes.push_back(std::move(node));
  }

  TopView view(std::size_t width = 80, TopChoice choice = {}) const {
    return make_top_view(headline_, observation_, choice, width);
  }

  TopHeadline headline_;
  Observation observation_;
};

TEST_F(TopViewTest, TheHeadTellsTheProgressAndTheBottleneck) {
  EXPECT_EQ(view().head, (std::vector<std::string>{"mnist-9ix  step 4310/18740  loss 0.08142  21530 samples/s",
                                                   "bottleneck: data_loader (91%)"}));
  headline_ = {.run = "mnist-9ix"};
  observation_.bottlenecks.clear();
  EXPECT_EQ(view().head, (std::vector<std::string>{"mnist-9ix", "bottleneck: -"}));
}

TEST_F(TopViewTest, ARowNamesWhomTheComponentWaitsFor) {
  const TopView shown = view();
  ASSERT_EQ(shown.rows.size(), 2u);
  EXPECT_THAT(shown.rows[1], HasSubstr("91% data_loader"));
  EXPECT_THAT(shown.rows[1], Not(HasSubstr("thread"))) << "less than one percent is not worth a name";
  EXPECT_THAT(shown.rows[1], HasSubstr("337"));
}

TEST_F(TopViewTest, EveryLineFitsAndTheMostImportantColumnsStay) {
  observation_.nodes[1].shares->waiting[0].target = std::string(60, 'x');
  for (std::size_t width = 30; width < 200; ++width) {
    const TopView shown = view(width);
    for (const std::string& row : shown.rows) EXPECT_LE(row.size(), width);
    EXPECT_LE(shown.columns.size(), width);
    EXPECT_THAT(shown.columns, HasSubstr("COMPONENT"));
    EXPECT_THAT(shown.columns, HasSubstr("BUSY")) << width;
  }
  EXPECT_THAT(view(80).columns, HasSubstr("CPU"));
  EXPECT_THAT(view(0).columns, HasSubstr("RESTARTS")) << "a pipe has room for everything";
}

TEST_F(TopViewTest, RowsAreSortedByWhatTheUserChooses) {
  EXPECT_THAT(view().rows[0], ::testing::StartsWith("data_loader"));
  observation_.nodes[0].shares->busy = 0.01;
  EXPECT_THAT(view(80, {.sort = TopSort::kBusy}).rows[0], ::testing::StartsWith("accelerator_host"));
}

TEST_F(TopViewTest, ProcessesHaveATableOfTheirOwn) {
  const TopView shown = view(80, {.processes = true});
  ASSERT_EQ(shown.rows.size(), 1u);
  EXPECT_EQ(shown.rows[0], "main     4711  131%  412M");
}

TEST_F(TopViewTest, AComponentThatIsNotActiveShowsItsState) {
  observation_.nodes[0].state = "error";
  observation_.nodes[0].shares.reset();
  EXPECT_THAT(view().rows[0], HasSubstr("(error)"));
}

TEST_F(TopViewTest, NamesCannotControlTheTerminal) {
  observation_.nodes[0].name = "evil\033[2J";
  headline_.run = "evil\033]0;";
  observation_.bottlenecks[0].component = "evil\033[2J";
  const TopView shown = view();
  for (const std::string& line : {shown.head[0], shown.head[1], shown.rows[0]}) {
    EXPECT_EQ(line.find('\033'), std::string::npos) << line;
  }
}

TEST_F(TopViewTest, EveryOrderIsReachedAndTheFirstComesBack) {
  for (const bool processes : {false, true}) {
    TopSort sort = TopSort::kPlan;
    int orders = 0;
    do {
      sort = next_sort(sort, processes);
      ++orders;
    } while (sort != TopSort::kPlan && orders < 10);
    EXPECT_EQ(orders, processes ? 3 : 5);
  }
}

}  // namespace
}  // namespace trainyard::tools
