// SPDX-License-Identifier: Apache-2.0
#include "core/component/output.h"

#include <algorithm>
#include <chrono>

#include "core/component/component.h"
#include "core/edge/edge.h"
#include "core/loop/event_loop.h"

namespace trainyard {
namespace {

/// The number of messages after which a component that nothing limits must pause, and how long it pauses.
constexpr std::uint64_t kBurst = 64;
constexpr std::chrono::milliseconds kPause{1};

}  // namespace

OutputBase::OutputBase(Component& owner, std::string name, std::string help, const MessageType& type,
                       OutputOptions options)
    : owner_(owner), name_(std::move(name)), help_(std::move(help)), type_(type), options_(std::move(options)) {
  owner.outputs_.push_back(this);
}

OutputBase::~OutputBase() {
  if (pause_timer_ != 0) owner_.loop().cancel(pause_timer_);
}

// Edges with a policy that drops messages need not be ready, because the component never waits for their receivers.
bool OutputBase::ready() const {
  bool limited = false;
  for (const core::Edge* edge : edges_) {
    if (edge->policy() != Policy::kBlock) continue;
    if (!edge->ready()) return false;
    limited = limited || !edge->drops_everything();
  }
  return limited || within_burst();
}

// The clock is read only after a whole burst.
bool OutputBase::within_burst() const {
  if (pause_timer_ != 0) return false;
  if (sequence_ - burst_first_ < kBurst) return true;
  const auto now = std::chrono::steady_clock::now();
  const bool slow = now - burst_began_ >= kPause;
  if (slow) {
    burst_first_ = sequence_;
    burst_began_ = now;
  } else {
    pause_timer_ = owner_.loop().after(kPause, [this] { end_pause(); });
  }
  return slow;
}

// Const, like ready(), which has set the timer.
void OutputBase::end_pause() const {
  pause_timer_ = 0;
  burst_first_ = sequence_;
  burst_began_ = std::chrono::steady_clock::now();
  if (on_ready_ && ready()) owner_.guarded(on_ready_);
}

void OutputBase::add_edge(core::Edge& edge) { edges_.push_back(&edge); }

// If messages waited at the edge, they are lost and no longer block the component.
void OutputBase::remove_edge(core::Edge& edge) {
  if (std::erase(edges_, &edge) != 0 && edge.policy() == Policy::kBlock && edge.waiting() != 0) room_again(true);
}

// The component continues only when no edge of the output is blocked. It first handles messages that it has kept, and
// only then produces new ones in on_ready_.
void OutputBase::room_again(bool was_waiting) {
  if (was_waiting) --blocked_edges_;
  if (blocked_edges_ != 0) return;
  owner_.release_held();
  if (on_ready_ && ready()) owner_.guarded(on_ready_);
}

void OutputBase::send_erased(std::shared_ptr<const void> message) {
  // Without a receiver, the message is only counted. The sequence number tells a later visitor how many messages there
  // were.
  if (edges_.empty() && !options_.latched) {
    ++sequence_;
    return;
  }
  core::Envelope envelope;
  envelope.type = &type_;
  envelope.sequence = sequence_++;
  envelope.send_time_ns = std::chrono::system_clock::now().time_since_epoch().count();
  envelope.trace = owner_.loop().trace();
  // The size is computed once for all edges.
  envelope.bytes = type_.payload_bytes(message.get());
  envelope.source = owner_.context().index;
  envelope.message = std::move(message);
  if (options_.latched) last_ = envelope;
  // Each edge takes a reference to the same message; no copy is made for several readers.
  for (core::Edge* edge : edges_) edge->send(envelope);
}

}  // namespace trainyard
