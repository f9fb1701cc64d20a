// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/loop/event_loop.h"
#include "core/process/component_host.h"
#include "core/process/plan_view.h"
#include "core/spans/span_ring.h"
#include "messages/spans.h"

namespace trainyard::core {

/// Collects the spans (records of what components did, and when) of all event loops of a process while somebody
/// subscribes to them, and publishes them in batches. This class is used only on the control thread, which communicates
/// with the launcher and with subscribers.
class SpanDesk {
 public:
  /// The interval at which the spans are published.
  static constexpr std::chrono::milliseconds kInterval{50};
  /// The maximum number of spans in one message. A message with this many spans has a size of about 130 kB.
  static constexpr std::size_t kMostSpans = 2048;

  /// A function that publishes one batch of spans. If `operations` is true, they are spans of LibTorch's operations;
  /// otherwise the batch contains none of these.
  using Publish = std::function<void(Spans spans, bool operations)>;

  /// All objects passed by reference must outlive this object.
  SpanDesk(EventLoop& control, const PlanView& plan, const ComponentHost& host, Publish publish);
  /// Ends the recording.
  ~SpanDesk();
  SpanDesk(const SpanDesk&) = delete;
  SpanDesk& operator=(const SpanDesk&) = delete;

  /// Sets which spans have subscribers: `operations` stands for the spans of LibTorch's operations, and `spans` for all
  /// other spans. The recording begins when one of the two becomes true, and ends when both are false. Spans that have
  /// not been published by then are discarded.
  void want(bool spans, bool operations);
  /// Publishes the spans that have been recorded since the last call. During a recording, this object calls it every
  /// kInterval. The process calls it once more before it ends.
  void collect();

 private:
  // A message that is being made, and the index of each of its names.
  struct Batch {
    Spans message;
    std::unordered_map<std::string, std::uint32_t> names;
  };

  void record(bool on);
  void add(Batch& batch, const SpanRecord& record) const;
  static std::uint32_t index_of(Batch& batch, const std::string& name);
  void publish(Batch& batch, bool operations);
  std::uint64_t lost() const;
  void schedule();

  EventLoop& control_;
  const PlanView& plan_;
  const ComponentHost& host_;
  Publish publish_;
  std::vector<SpanSource> sources_;
  std::unordered_map<const Component*, std::uint32_t> indices_;  ///< The index in `sources_` of each component.
  bool spans_ = false;
  bool operations_ = false;
  std::uint64_t lost_before_ = 0;  ///< The number of spans that were lost before the recording began.
  EventLoop::TimerId timer_ = 0;
};

}  // namespace trainyard::core
