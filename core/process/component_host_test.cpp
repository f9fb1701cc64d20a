// SPDX-License-Identifier: Apache-2.0
#include "core/process/component_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "core/process/host_fixture.h"
#include "core/testing/error_of.h"

namespace trainyard::core {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::HostedProcess;
using ::testing::IsEmpty;

class ComponentHostTest : public testing::HostFixture {
 protected:
  static std::vector<std::string> threads(const HostedProcess& process) {
    std::vector<std::string> names;
    for (const auto& [thread, worker] : process.host.workers()) names.push_back(thread + " = " + worker->key());
    return names;
  }

  static std::set<std::uint32_t> cpus_of_this_thread() {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    std::set<std::uint32_t> cpus;
    for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.insert(cpu);
    }
    return cpus;
  }

  /// Returns the CPUs on which the thread of a component may run.
  std::set<std::uint32_t> cpus_of(const Component& component) {
    std::set<std::uint32_t> cpus;
    std::atomic<bool> answered = false;
    component.loop().post([&] {
      cpus = cpus_of_this_thread();
      answered = true;
    });
    run_until([&] { return answered.load(); });
    return cpus;
  }
};

TEST_F(ComponentHostTest, HasOneThreadForEveryThreadOfItsOwnProcess) {
  add("ticker", "a", "ticks");
  add("tally", "a", "rest");
  add("clerk", "a", "rest");
  add("tally", "b", "far");
  HostedProcess& a = host("a");
  EXPECT_THAT(threads(a), ElementsAre("rest = a/rest", "ticks = a/ticks"));
  EXPECT_THAT(a.host.components(), IsEmpty()) << "no component is made before its turn";
  a.make();
  EXPECT_EQ(a.host.components().size(), 3u);
  EXPECT_EQ(&a.host.component(1).loop(), &a.host.component(2).loop());
  EXPECT_NE(&a.host.component(0).loop(), &a.host.component(1).loop());
  EXPECT_EQ(&a.host.worker_of(2).loop, &a.host.component(2).loop());
  EXPECT_THAT(threads(host("nobody")), IsEmpty());
}

TEST_F(ComponentHostTest, TellsAComponentWhatThePlanSays) {
  plan_.seed = 7;
  add("ticker", "b", "main");
  ComponentPlan& planned = add("tally", "a", "main", R"({"finish_after": 3})");
  planned.name = "rank1/tally";
  planned.rank = 1;
  planned.world_size = 2;
  planned.places["finish_after"] = "test.toml:12";
  HostedProcess& a = host("a");
  a.make();
  const Component& made = a.host.component(1);
  const ComponentContext& context = made.context();
  EXPECT_EQ(made.name(), "rank1/tally");
  EXPECT_EQ(made.where(), "component 'rank1/tally'");
  EXPECT_EQ(context.index, 1u);
  EXPECT_EQ(context.rank, 1u);
  EXPECT_EQ(context.world_size, 2u);
  EXPECT_EQ(context.seed, 7u);
  EXPECT_EQ(context.output_directory, folder_.path("out"));
  EXPECT_EQ(context.places.at("finish_after"), "test.toml:12");
  EXPECT_EQ(context.pool, &a.host.pool());
  EXPECT_EQ(made.find_parameter("finish_after")->value(), 3);
}

TEST_F(ComponentHostTest, FindsItsOwnComponentsByTheirFullNamesAndNoOthers) {
  add("tally", "a", "main").name = "rank0/tally";
  add("clerk", "b", "main");
  HostedProcess& a = host("a");
  EXPECT_EQ(a.host.find("rank0/tally"), nullptr) << "it is not made yet";
  a.make();
  EXPECT_EQ(a.host.find("rank0/tally"), &a.host.component(0));
  EXPECT_EQ(a.host.find("tally"), nullptr);
  EXPECT_EQ(a.host.find("clerk"), nullptr);
  EXPECT_EQ(a.host.find(""), nullptr);
}

TEST_F(ComponentHostTest, FindsOutputsByTheTopicsOfThePlan) {
  add("ticker", "a", "main").topics = {{"ticks", "/ticks"}};
  add("ticker", "a", "main").topics = {{"ticks", "/ticks"}};
  add("ticker", "a", "main").topics = {{"ticks", "/tocks"}};
  add("ticker", "b", "main").topics = {{"ticks", "/ticks"}};
  // A component with an input for the topic is not a publisher of the topic.
  add("tally", "a", "main").topics = {{"ticks", "/ticks"}};
  HostedProcess& a = host("a");
  a.make();
  const auto output = [&](std::uint32_t index) { return a.host.component(index).outputs().front(); };
  EXPECT_THAT(a.host.find_outputs("/ticks"), ElementsAre(output(0), output(1)));
  EXPECT_THAT(a.host.find_outputs("/tocks"), ElementsAre(output(2)));
  EXPECT_THAT(a.host.find_outputs("ticks"), IsEmpty());
  EXPECT_THAT(a.host.find_outputs(""), IsEmpty());
}

TEST_F(ComponentHostTest, AComponentThatCannotBeMadeIsNamedAndIsNotThere) {
  add("ticker", "a", "main", R"({"count": -1})");
  add("tikcer", "a", "main");
  HostedProcess& a = host("a");
  const auto [wrong, value] = error_of([&] { a.host.make(a.view.component(0)); });
  EXPECT_EQ(wrong, Code::kInvalidArgument);
  EXPECT_THAT(value, HasSubstr("component 'ticker': count: -1 is not allowed; an integer >= 0"));
  const auto [missing, name] = error_of([&] { a.host.make(a.view.component(1)); });
  EXPECT_EQ(missing, Code::kNotFound);
  EXPECT_THAT(name, HasSubstr("no component named 'tikcer'; did you mean 'ticker'?"));
  EXPECT_THAT(a.host.components(), IsEmpty());
  EXPECT_THAT(a.host.worker_of(0).components, IsEmpty());
}

/// The library whose path is in the plan may have been replaced since the launcher found it.
TEST_F(ComponentHostTest, ALibraryWithAPluginOfAnotherKindIsRefusedBeforeItIsUsed) {
  const std::string path = folder_.path("ticker.so");
  const std::string source = folder_.write("ticker.c", std::string("#include <stddef.h>\n"
                                                                   "#include <stdlib.h>\n") +
                                                           R"(
__attribute__((used, section(".trainyard"))) const char label[] = "sampler\nticker\n1\nd\n)" TRAINYARD_ABI_TAG R"(";
__attribute__((used, section(".trainyard.interfaces"))) const char interfaces[] = "sampler-77";
static void* make(void* context) { (void)context; abort(); return NULL; }
static void* describe(const char* where, const char* values) { (void)where; (void)values; abort(); return NULL; }
const struct { const char *tag, *kind, *name; void* (*create)(void*); void* (*describe)(const char*, const char*); }
    trainyard_plugin_entry = {")" TRAINYARD_ABI_TAG R"(", "sampler", "ticker", make, describe};
)");
  ASSERT_EQ(std::system(("cc -shared -fPIC -o " + path + " " + source).c_str()), 0);
  add("ticker", "a", "main").library = path;
  HostedProcess& a = host("a");
  const auto [code, text] = error_of([&] { a.make(); });
  EXPECT_EQ(code, Code::kPluginLoad);
  EXPECT_EQ(text, "component 'ticker': " + path +
                      " contains the sampler 'ticker', and a component is needed; was the plugin replaced?");
  EXPECT_THAT(a.host.components(), IsEmpty());
}

TEST_F(ComponentHostTest, ReportsWhoEndsTheRunAndWhoFails) {
  add("clerk", "a", "main");
  add("tally", "a", "other", R"({"finnish_after": 3})");
  HostedProcess& a = host("a");
  a.make();
  a.host.component(0).context().finish_run("done", true);
  a.host.component(0).context().finish_run("out of ink", false);
  a.run();
  run_until([&] { return a.reports.size() >= 3; });
  EXPECT_THAT(a.reports,
              ElementsAre("clerk finished: done", "clerk gave up: out of ink",
                          HasSubstr("tally failed: component 'tally' has no parameter 'finnish_after'; did you mean "
                                    "'finish_after'?")));
}

TEST_F(ComponentHostTest, PinsAThreadToTheCpusOfAllOfItsComponentsAndNoOther) {
  const std::set<std::uint32_t> all = cpus_of_this_thread();
  add("ticker", "a", "pinned").cpus = {*all.begin()};
  add("tally", "a", "pinned").cpus = {*all.rbegin()};
  add("clerk", "a", "free");
  HostedProcess& a = host("a");
  a.make();
  a.host.start();
  EXPECT_EQ(cpus_of(a.host.component(0)), (std::set{*all.begin(), *all.rbegin()}));
  EXPECT_EQ(cpus_of(a.host.component(2)), all);
  EXPECT_EQ(cpus_of_this_thread(), all);
}

TEST_F(ComponentHostTest, RunsBetweenStartAndStopAndCanBeStoppedAtAnyTime) {
  add("clerk", "a", "main");
  HostedProcess& a = host("a");
  EXPECT_FALSE(a.host.running());
  a.host.stop();
  a.make();
  std::atomic<int> ran = 0;
  a.host.component(0).loop().post([&] { ++ran; });
  EXPECT_EQ(ran, 0) << "its thread does not exist yet";
  HostedProcess& other = host("a");
  other.make();
  other.host.start();
  EXPECT_TRUE(other.host.running());
  other.host.component(0).loop().post([&] { ++ran; });
  run_until([&] { return ran == 1; });
  other.host.stop();
  EXPECT_FALSE(other.host.running());
  other.host.component(0).loop().post([&] { ++ran; });
  other.host.stop();
  EXPECT_EQ(ran, 1) << "its thread has ended";
}

}  // namespace
}  // namespace trainyard::core
