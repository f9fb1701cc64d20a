// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/topic_statistics.h"

#include <gtest/gtest.h>

#include <random>

namespace trainyard::tools {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// Returns a message of a source that sends every 10 ms, that is, at 100 Hz.
MessageRecord message(std::uint64_t sequence, std::uint32_t source = 0) {
  const auto sent = static_cast<std::int64_t>(sequence) * 10 * kMillisecond;
  return {.source = {0, source}, .sequence = sequence, .sent_ns = sent, .arrived_ns = sent};
}

TEST(TopicStatisticsTest, MeasuresTheRateOfASteadySource) {
  std::deque<MessageRecord> records;
  for (std::uint64_t i = 0; i < 10; ++i) records.push_back(message(i));
  const auto rate = rate_of(records);
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->hz, 100, 1e-9);
  EXPECT_NEAR(rate->interval_s.mean, 0.01, 1e-12);
  EXPECT_NEAR(rate->interval_s.deviation, 0, 1e-9);
}

TEST(TopicStatisticsTest, CountsMessagesThatWereMissed) {
  std::mt19937 random(1);
  std::deque<MessageRecord> records;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (random() % 10 == 0) records.push_back(message(i));  // Nine of ten messages are dropped.
  }
  EXPECT_NEAR(rate_of(records)->hz, 100, 1e-9);
  EXPECT_NEAR(rate_of(records)->interval_s.max, 0.01, 1e-9);
}

TEST(TopicStatisticsTest, AddsTheRatesOfSourcesAndMeasuresIntervalsWithinEach) {
  std::deque<MessageRecord> records;
  for (std::uint64_t i = 0; i < 10; ++i) {
    records.push_back(message(i, 0));
    records.push_back(message(i, 1));  // The second source sends at the same time as the first.
  }
  EXPECT_NEAR(rate_of(records)->hz, 200, 1e-9);
  EXPECT_NEAR(rate_of(records)->interval_s.min, 0.01, 1e-12);
}

TEST(TopicStatisticsTest, ComputesTheSpreadOfIntervals) {
  // Intervals of 10, 20 and 30 ms: a mean of 20 ms and a variance of 200/3 ms^2.
  std::deque<MessageRecord> records;
  for (const std::int64_t ms : {0, 10, 30, 60}) {
    records.push_back({.sequence = records.size(), .sent_ns = ms * kMillisecond});
  }
  const Spread interval = rate_of(records)->interval_s;
  EXPECT_NEAR(interval.mean, 0.02, 1e-12);
  EXPECT_NEAR(interval.min, 0.01, 1e-12);
  EXPECT_NEAR(interval.max, 0.03, 1e-12);
  EXPECT_NEAR(interval.deviation * interval.deviation, 200.0 / 3 * 1e-6, 1e-12);
}

TEST(TopicStatisticsTest, KnowsNoRateWithoutTwoMessagesOfASource) {
  EXPECT_FALSE(rate_of({}));
  EXPECT_FALSE(rate_of({message(1, 0), message(1, 1)}));
  EXPECT_FALSE(bandwidth_of({message(1)}));
}

TEST(TopicStatisticsTest, LeavesOutTheTimeBeforeARestart) {
  std::deque<MessageRecord> records{message(500), message(501)};
  for (std::uint64_t i = 0; i < 2; ++i) {
    MessageRecord restarted = message(i);
    restarted.sent_ns += 3'600'000 * kMillisecond;  // The restart is an hour later.
    records.push_back(restarted);
  }
  EXPECT_NEAR(rate_of(records)->hz, 100, 1e-9);
}

TEST(TopicStatisticsTest, MeasuresBytesWithThoseOfMissedMessages) {
  std::deque<MessageRecord> records{message(0), message(2), message(4)};
  for (MessageRecord& record : records) {
    record.body_bytes = 100;
    record.tensor_bytes = 1000 * (1 + record.sequence / 2);
  }
  const auto bandwidth = bandwidth_of(records);
  EXPECT_NEAR(bandwidth->hz, 100, 1e-9);
  EXPECT_NEAR(bandwidth->body_bytes_per_s, 100 * 100, 1e-6);
  EXPECT_NEAR(bandwidth->tensor_bytes_per_s, 100 * 2000, 1e-6);
  EXPECT_EQ(bandwidth->message_bytes.min, 1100);
  EXPECT_EQ(bandwidth->message_bytes.max, 3100);
}

TEST(TopicStatisticsTest, MeasuresDelaysButNotThatOfAKeptMessage) {
  std::deque<MessageRecord> records{{.sent_ns = 0, .arrived_ns = 5'000 * kMillisecond}};
  // Delays of 1 to 100 ms, in some order.
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t sent = (1000 + i) * kMillisecond;
    records.push_back({.sent_ns = sent, .arrived_ns = sent + (1 + i * 37 % 100) * kMillisecond});
  }
  const auto delay = delay_of(records, 1000 * kMillisecond);
  ASSERT_TRUE(delay);
  EXPECT_NEAR(delay->mean, 0.0505, 1e-12);
  EXPECT_NEAR(delay->min, 0.001, 1e-12);
  EXPECT_NEAR(delay->max, 0.1, 1e-12);
  EXPECT_NEAR(delay->p50, 0.050, 1e-12);
  EXPECT_NEAR(delay->p99, 0.099, 1e-12);
  EXPECT_FALSE(delay_of(records, 10'000 * kMillisecond));
}

}  // namespace
}  // namespace trainyard::tools
