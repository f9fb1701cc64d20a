// SPDX-License-Identifier: Apache-2.0
#include "core/process/span_desk.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "core/process/host_fixture.h"

namespace trainyard::core {
namespace {

/// A fixture with a ticker that keeps sending messages to a tally on another thread.
class SpanDeskTest : public testing::HostFixture {
 protected:
  void SetUp() override {
    add("ticker", "office", "front", R"({"count": 0, "interval_ms": 1})");
    add("tally", "office", "back").rank = 3;
    connect(0, 1, Transport::kProcess);
    office_ = &host("office");
    office_->make();
    office_->wiring.make_edges();
    desk_.emplace(office_->control, office_->view, office_->host, [this](Spans spans, bool operations) {
      (operations ? operations_ : spans_).push_back(std::move(spans));
    });
    office_->run();
  }

  /// Returns the first span of this kind and component, or an empty optional.
  std::optional<Span> find(SpanKind kind, const std::string& component, const Spans*& in) const {
    for (const Spans& batch : spans_) {
      for (const Span& span : batch.spans) {
        if (span.kind != kind || batch.sources.at(span.source).component != component) continue;
        in = &batch;
        return span;
      }
    }
    return {};
  }

  testing::HostedProcess* office_ = nullptr;
  std::vector<Spans> spans_, operations_;
  std::optional<SpanDesk> desk_;
};

TEST_F(SpanDeskTest, PublishesWhatAllThreadsRecordedWithNamesInsteadOfNumbers) {
  desk_->want(true, false);
  const Spans* batch = nullptr;
  run_until([&] { return find(SpanKind::kHop, "tally", batch).has_value(); });
  const Span hop = *find(SpanKind::kHop, "tally", batch);
  EXPECT_EQ(batch->process, "office");
  EXPECT_EQ(batch->pid, ::getpid());
  EXPECT_EQ(batch->names.at(hop.name), "ArenaBlock");
  EXPECT_EQ(batch->names.at(hop.peer), "ticker");
  EXPECT_EQ(batch->sources.at(hop.source).thread, "back");
  EXPECT_EQ(batch->sources.at(hop.source).rank, 3u);
  EXPECT_EQ(batch->lost, 0u);
  // A posted task is measured only if it runs inside Component::guarded().
  Component& ticker = office_->host.component(0);
  ticker.loop().post([&ticker] { ticker.guarded([] {}); });
  run_until([&] { return find(SpanKind::kHandler, "ticker", batch).has_value(); });
  EXPECT_EQ(batch->names.at(find(SpanKind::kHandler, "ticker", batch)->name), "task");
  EXPECT_TRUE(operations_.empty());
}

TEST_F(SpanDeskTest, RecordsOnlyWhileSomebodyWantsSpans) {
  const auto recording = [&] { return office_->host.worker_of(0).loop.activity().spans().on(); };
  EXPECT_FALSE(recording());
  desk_->want(true, true);
  EXPECT_TRUE(recording());
  desk_->want(true, false);
  EXPECT_TRUE(recording());
  desk_->want(false, false);
  EXPECT_FALSE(recording());
  desk_->want(false, true);
  EXPECT_TRUE(recording());
  desk_.reset();
  EXPECT_FALSE(recording());
}

TEST_F(SpanDeskTest, BeginsAgainWithoutWhatWasRecordedBefore) {
  desk_->want(true, false);
  const Spans* batch = nullptr;
  run_until([&] { return find(SpanKind::kHop, "tally", batch).has_value(); });
  desk_->want(false, false);
  spans_.clear();
  const std::int64_t begin = LoopActivity::now_ns();
  desk_->want(true, false);
  run_until([&] { return find(SpanKind::kHop, "tally", batch).has_value(); });
  for (const Spans& one : spans_) {
    for (const Span& span : one.spans) EXPECT_GE(span.end_ns, begin);
  }
}

TEST_F(SpanDeskTest, DividesManySpansIntoSeveralMessagesAndCountsThoseThatWereLost) {
  constexpr std::uint64_t kMany = SpanRing::kCapacity + 1000;
  desk_->want(true, false);
  Component& tally = office_->host.component(1);
  tally.loop().post([&tally] {
    const BusyScope busy(tally.loop().activity(), tally);
    for (std::uint64_t i = 0; i < kMany; ++i) {
      add_span({.kind = SpanKind::kOther, .name = "part", .begin_ns = 1, .end_ns = 2});
    }
  });
  const auto accounted_for = [&] {
    std::uint64_t arrived = 0;
    for (const Spans& one : spans_) {
      arrived += static_cast<std::uint64_t>(std::ranges::count(one.spans, SpanKind::kOther, &Span::kind));
    }
    // Spans of other kinds can be lost, too.
    return !spans_.empty() && arrived + spans_.back().lost >= kMany;
  };
  run_until(accounted_for);
  for (const Spans& one : spans_) EXPECT_LE(one.spans.size(), SpanDesk::kMostSpans);
}

}  // namespace
}  // namespace trainyard::core
