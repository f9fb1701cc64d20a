// SPDX-License-Identifier: Apache-2.0
// The expected texts follow the specifications of the two formats. In tests/bridges, promtool and the parser of
// prometheus_client read complete answers.
#include "components/prometheus/exposition.h"

#include <gmock/gmock.h>

#include <limits>

#include "components/prometheus/last_metrics.h"
#include "components/prometheus/run_counters.h"

namespace trainyard::prometheus {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string example(Form form) {
  Exposition text(form);
  text.family("trainyard_run", Kind::kInfo, "The run.");
  text.sample({{"run", "mnist-1"}}, 1);
  text.family("trainyard_nothing", Kind::kGauge, "Has no samples.");
  text.family("trainyard_steps", Kind::kCounter, "Steps.");
  text.sample({}, 12'000'000);
  return text.finish();
}

TEST(ExpositionTest, WritesTheFormOfPrometheus) {
  EXPECT_EQ(
      example(Form::kText),
      "# HELP trainyard_run_info The run.\n# TYPE trainyard_run_info gauge\ntrainyard_run_info{run=\"mnist-1\"} 1\n"
      "# HELP trainyard_steps_total Steps.\n# TYPE trainyard_steps_total counter\ntrainyard_steps_total 12000000\n");
}

TEST(ExpositionTest, WritesOpenMetrics) {
  EXPECT_EQ(example(Form::kOpenMetrics),
            "# HELP trainyard_run The run.\n# TYPE trainyard_run info\ntrainyard_run_info{run=\"mnist-1\"} 1\n"
            "# HELP trainyard_steps Steps.\n# TYPE trainyard_steps counter\ntrainyard_steps_total 12000000\n# EOF\n");
}

TEST(ExpositionTest, TextFromElsewhereCannotBreakALine) {
  Exposition text(Form::kText);
  text.family("a", Kind::kGauge, "b");
  text.sample({{"x", "\"} 1\nforged 2 \\"}, {"y", "\xff\x1b[31m"}}, 1);
  EXPECT_THAT(text.finish(), HasSubstr("\na{x=\"\\\"} 1?forged 2 \\\\\",y=\"\xef\xbf\xbd?[31m\"} 1\n"));
}

TEST(ExpositionTest, WritesNumbersThatAreNotFinite) {
  Exposition text(Form::kText);
  text.family("a", Kind::kGauge, "b");
  text.sample({}, std::numeric_limits<double>::quiet_NaN());
  text.sample({{"x", "1"}}, std::numeric_limits<double>::infinity());
  text.sample({{"x", "2"}}, -std::numeric_limits<double>::infinity());
  EXPECT_THAT(text.finish(), HasSubstr("\na NaN\na{x=\"1\"} +Inf\na{x=\"2\"} -Inf\n"));
}

TEST(ExpositionTest, AnswersInTheFormThatTheClientAccepts) {
  EXPECT_EQ(preferred_form(""), Form::kText);
  EXPECT_EQ(preferred_form("*/*"), Form::kText);
  EXPECT_EQ(preferred_form("application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5"),
            Form::kOpenMetrics);
}

Metrics report(std::string stage, std::uint64_t step, std::vector<Scalar> values) {
  return {.step = step,
          .total_steps = 100,
          .stage = std::move(stage),
          .time_ns = 1'500'000'000,
          .samples = step * 32,
          .unit = "token",
          .units = step * 320,
          .values = std::move(values)};
}

std::string text_of(const LastMetrics& metrics) {
  Exposition text(Form::kText);
  metrics.write(text);
  return text.finish();
}

TEST(LastMetricsTest, KeepsTheLastValueOfEveryStage) {
  LastMetrics metrics;
  EXPECT_EQ(text_of(metrics), "");
  metrics.add(report("train", 10, {{"loss", 2}, {"learning_rate", 0.5}}));
  metrics.add(report("validate", 10, {{"loss", 3}}));
  metrics.add(report("train", 11, {{"loss", 1.5}}));
  const std::string text = text_of(metrics);
  EXPECT_THAT(text, HasSubstr("\ntrainyard_metric{stage=\"train\",metric=\"learning_rate\"} 0.5\n"
                              "trainyard_metric{stage=\"train\",metric=\"loss\"} 1.5\n"
                              "trainyard_metric{stage=\"validate\",metric=\"loss\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("\ntrainyard_steps_total 11\n"));
  EXPECT_THAT(text, HasSubstr("\ntrainyard_samples_total 352\n"));
  EXPECT_THAT(text, HasSubstr("\ntrainyard_units_total{unit=\"token\"} 3520\n"));
  EXPECT_THAT(text, HasSubstr("\ntrainyard_metrics_timestamp_seconds{stage=\"train\"} 1.5\n"));
}

TEST(LastMetricsTest, NamesFromMessagesUseABoundedAmountOfMemory) {
  LastMetrics metrics;
  for (std::size_t i = 0; i < 2 * LastMetrics::kMostValues; ++i) {
    metrics.add(report("train", i, {{"loss", 0}, {"name" + std::to_string(i), 1}, {std::string(1000, 'x'), 1}}));
    metrics.add(report("stage" + std::to_string(i), i, {}));
  }
  const std::string text = text_of(metrics);
  EXPECT_LT(text.size(), LastMetrics::kMostValues * 100);
  EXPECT_THAT(text, Not(HasSubstr("xxx")));
}

visitors::Observation observation(double busy, double waiting, std::uint64_t sent) {
  visitors::Observation seen;
  seen.nodes.push_back(
      {.name = "optimizer", .plugin = "optimizer", .process = "main", .state = "active", .restarts = 2});
  seen.nodes.back().shares = visitors::ComponentShares{.component = "optimizer",
                                                       .seconds = 2,
                                                       .busy = busy,
                                                       .messages_per_s = 5,
                                                       .waiting = {{"loader", "message", waiting}}};
  seen.edges.push_back({.number = 7,
                        .topic = "/batches",
                        .from = "loader",
                        .to = "host",
                        .policy = "block",
                        .messages = sent,
                        .bytes = 100,
                        .under_way = 3,
                        .window = 8,
                        .dropped = 1,
                        .blocked = 4});
  seen.processes.push_back({.name = "main", .cpu_seconds = 1.5, .memory_bytes = 4096});
  return seen;
}

TEST(RunCountersTest, AddsUpTheTimesOfAllObservations) {
  RunCounters counters;
  counters.add(observation(0.25, 0.5, 10));
  counters.add(observation(0.75, 0.25, 20));
  Exposition exposition(Form::kText);
  counters.write(exposition);
  const std::string text = exposition.finish();
  for (const char* line :
       {"trainyard_component_busy_seconds_total{component=\"optimizer\"} 2",
        "trainyard_component_waiting_seconds_total{component=\"optimizer\",for=\"loader\",kind=\"message\"} 1.5",
        "trainyard_component_messages_total{component=\"optimizer\"} 20",
        "trainyard_component_active{component=\"optimizer\"} 1", "trainyard_process_restarts_total{process=\"main\"} 2",
        "trainyard_edge_messages_total{edge=\"7\",topic=\"/batches\",from=\"loader\",to=\"host\"} 20",
        "trainyard_edge_queue_messages{edge=\"7\",topic=\"/batches\",from=\"loader\",to=\"host\"} 3",
        "trainyard_edge_queue_limit_messages{edge=\"7\",topic=\"/batches\",from=\"loader\",to=\"host\"} 8",
        "trainyard_edge_dropped_messages_total{edge=\"7\",topic=\"/batches\",from=\"loader\",to=\"host\"} 1",
        "trainyard_edge_blocked_messages_total{edge=\"7\",topic=\"/batches\",from=\"loader\",to=\"host\"} 4",
        "trainyard_process_cpu_seconds_total{process=\"main\"} 1.5",
        "trainyard_process_resident_memory_bytes{process=\"main\"} 4096"}) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(line) + "\n"));
  }
}

TEST(RunCountersTest, CausesFromMembersUseABoundedAmountOfMemory) {
  RunCounters counters;
  for (std::size_t i = 0; i < RunCounters::kMostCauses + 10; ++i) {
    visitors::Observation seen = observation(0, 0.5, 1);
    seen.nodes[0].shares->waiting[0].target = std::to_string(i);
    counters.add(seen);
  }
  Exposition exposition(Form::kText);
  counters.write(exposition);
  EXPECT_THAT(exposition.finish(), Not(HasSubstr("for=\"" + std::to_string(RunCounters::kMostCauses) + "\"")));
}

}  // namespace
}  // namespace trainyard::prometheus
