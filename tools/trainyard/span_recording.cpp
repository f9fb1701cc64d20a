// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/span_recording.h"

#include <cstdio>

#include "messages/error.h"
#include "messages/message_type.h"
#include "messages/printable.h"
#include "tools/trainyard/quantity_text.h"

namespace trainyard::tools {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> topics_of(bool operations) {
  std::vector<std::string> topics{kSpansTopic};
  if (operations) topics.emplace_back(kOperationsTopic);
  return topics;
}

}  // namespace

SpanRecording::SpanRecording(visitors::RunInfo run, timeline::Timeline& timeline, bool operations)
    : timeline_(timeline),
      before_(timeline.dropped() + timeline.events().size()),
      watch_(sockets_, std::move(run), topics_of(operations), {.window_messages = 1024, .window_bytes = 64ull << 20}) {}

void SpanRecording::collect_until(const std::function<bool()>& enough, std::chrono::duration<double> patience,
                                  const std::string& what) {
  constexpr std::chrono::milliseconds kSlice{50};
  wait_for_all_processes();
  auto last_step = Clock::now();
  std::size_t steps = 0;
  while (!enough()) {
    take(kSlice);
    if (timeline_.steps().size() != steps) {
      steps = timeline_.steps().size();
      last_step = Clock::now();
    }
    if (watch_.killed()) throw Error(Code::kPeerLost, "the run {} was killed before {}", watch_.run().run, what);
    if (watch_.ended()) throw Error(Code::kNotFound, "the run {} ended before {}", watch_.run().run, what);
    if (Clock::now() - last_step > patience) {
      throw Error(Code::kTimeout,
                  "no training step of {} ended within {}; does it train? --timeout makes this command wait longer",
                  watch_.run().run, seconds_text(patience.count()));
    }
  }
}

void SpanRecording::require_all_kept(const std::string& what) const {
  if (timeline_.dropped() <= before_) return;
  throw Error(Code::kUnsupported, "more than {} spans were recorded before {}; --steps N asks for fewer",
              timeline::Timeline::kMostEvents, what);
}

// Until every process has accepted its subscription, the spans that arrive are incomplete, and are dropped.
void SpanRecording::wait_for_all_processes() {
  constexpr std::chrono::milliseconds kSlice{10};
  const auto give_up = Clock::now() + std::chrono::seconds(2);
  while (!watch_.subscribed() && !watch_.ended() && Clock::now() < give_up) watch_.next(kSlice);
}

// Spans are published every 50 ms, but on a busy machine a process may be late, so this waits longer.
void SpanRecording::collect_rest() {
  const auto until = Clock::now() + std::chrono::milliseconds(700);
  for (auto now = Clock::now(); now < until && !watch_.ended(); now = Clock::now()) {
    take(std::chrono::ceil<std::chrono::milliseconds>(until - now));
  }
}

bool SpanRecording::take(std::chrono::milliseconds deadline) {
  const auto message = watch_.next(deadline);
  if (!message) return false;
  if (message->stream->fingerprint != message_type<Spans>().fingerprint) {
    throw Error(Code::kTypeMismatch, "the spans of {} are those of another version of Trainyard", watch_.run().run);
  }
  Spans spans;
  decode(spans, message->bytes());
  timeline_.add(spans);
  return true;
}

std::uint64_t last_step_of_the_beginning(const timeline::Timeline& timeline, std::uint64_t after) {
  constexpr std::int64_t kBeginning = 200'000'000;
  const auto first = timeline.steps().upper_bound(after);
  std::uint64_t last = 0;
  for (auto step = first; step != timeline.steps().end(); ++step) {
    if (step->second.begin_ns - first->second.begin_ns > kBeginning) break;
    last = step->first;
  }
  return last;
}

void report_lost(const timeline::Timeline& timeline) {
  if (const std::uint64_t lost = timeline.lost(); lost != 0) {
    std::fprintf(stderr, "trainyard: INCOMPLETE: %llu spans were lost, because there were too many in a short time\n",
                 static_cast<unsigned long long>(lost));
  }
  if (const std::uint64_t dropped = timeline.dropped(); dropped != 0) {
    std::fprintf(stderr, "trainyard: INCOMPLETE: the oldest %llu spans were dropped; at most %zu are kept\n",
                 static_cast<unsigned long long>(dropped), timeline::Timeline::kMostEvents);
  }
}

}  // namespace trainyard::tools
