// SPDX-License-Identifier: Apache-2.0
#include "core/component/output.h"

#include <algorithm>
#include <chrono>

#include "core/component/component.h"
#include "core/edge/edge.h"
#include "core/loop/event_loop.h"

namespace trainyard {

OutputBase::OutputBase(Component& owner, std::string name, std::string help, const MessageType& type,
                       OutputOptions options)
    : owner_(owner), name_(std::move(name)), help_(std::move(help)), type_(type), options_(std::move(options)) {
  owner.outputs_.push_back(this);
}

OutputBase::~OutputBase() = default;

// Edges that drop messages are always ready: nobody waits for their reader.
bool OutputBase::ready() const {
  return std::ranges::all_of(edges_,
                             [](const core::Edge* edge) { return edge->policy() != Policy::kBlock || edge->ready(); });
}

void OutputBase::add_edge(core::Edge& edge) { edges_.push_back(&edge); }

// A blocking edge that held the component back has room again.
void OutputBase::remove_edge(core::Edge& edge) {
  if (std::erase(edges_, &edge) != 0 && edge.policy() == Policy::kBlock && edge.waiting() != 0) room_again(true);
}

// The component continues only when no edge is blocked, and input that was held back comes before new output of a
// source.
void OutputBase::room_again(bool was_waiting) {
  if (was_waiting) --blocked_edges_;
  if (blocked_edges_ != 0) return;
  owner_.release_held();
  if (on_ready_ && ready()) owner_.guarded(on_ready_);
}

void OutputBase::send_erased(std::shared_ptr<const void> message) {
  // Nobody listens, so nothing is measured or stamped. The sequence number tells a later visitor how many messages
  // there were.
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
