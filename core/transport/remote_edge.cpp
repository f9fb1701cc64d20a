// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "core/component/output.h"
#include "core/memory/shared_pool.h"
#include "core/transport/outlet.h"
#include "core/transport/ring_record.h"
#include "messages/header.h"

namespace trainyard::core {

// Credit is kept as pairs of counters that only grow: the messages and bytes that were sent here, and those that the
// subscriber has handled. The difference is in flight. With a ring, the subscriber writes its counters into shared
// memory; otherwise they are the sums of its Credit messages.
RemoteEdge::RemoteEdge(Outlet& outlet, OutputBase& output, std::string topic, std::uint32_t id, Policy policy,
                       std::uint64_t window_messages, std::uint64_t window_bytes)
    : Edge(output, id, policy, window_messages, window_bytes), outlet_(outlet), topic_(std::move(topic)) {}

void RemoteEdge::attach(std::string_view peer, const Subscribe& subscription, const RingOffer* offer) {
  // This is needed even if the same peer subscribes again, because it has made a new ring, and the counters start again
  // from zero.
  detach();
  if (offer != nullptr && offer->has_ring()) {
    // This comes before any other change. If it throws, the edge has no subscriber.
    ring_ = SharedRing::open(offer->handle());
    reader_loop_ = std::make_unique<PeerWakeup>(offer->wake.handle());
  }
  peer_ = peer;
  subscription_ = subscription.subscription;
  reader_ = subscription.process_index;
  reader_pid_ = offer == nullptr ? 0 : offer->wake.pid;
  outlet_.pool_.admit(reader_, reader_pid_);
  payloads_ = subscription.payloads == "handle"   ? Payloads::kHandle
              : subscription.payloads == "inline" ? Payloads::kInline
                                                  : Payloads::kNone;
  // The subscriber determines the windows. A window of zero would never allow a message.
  window_messages_ = std::max<std::uint64_t>(subscription.window_messages, 1);
  window_bytes_ = std::max<std::uint64_t>(subscription.window_bytes, 1);
  sent_messages_ = sent_bytes_ = returned_messages_ = returned_bytes_ = 0;
}

// The ring is closed, because this process would otherwise keep the memory of a reader that may have died.
void RemoteEdge::detach() {
  peer_.clear();
  reader_pid_ = 0;
  ring_.reset();
  reader_loop_.reset();
  starved_ = false;
}

// The pids are only compared and not looked up: the subscriber may be on another host, where they were assigned.
bool RemoteEdge::has_successor_of(pid_t dead) const { return dead > 0 && reader_pid_ > 0 && reader_pid_ != dead; }

void RemoteEdge::credit(std::uint64_t messages, std::uint64_t bytes) {
  // The credit is limited to what was sent, whatever the peer claims.
  returned_messages_ = std::min(returned_messages_ + messages, sent_messages_);
  returned_bytes_ = std::min(returned_bytes_ + bytes, sent_bytes_);
  on_room();
}

void RemoteEdge::request_flush() {
  // Over a ring, the receiver returns credit after every message anyway.
  if (!peer_.empty() && !ring_ && !drained()) send_control(outlet_.socket_, peer_, Flush{subscription_});
}

bool RemoteEdge::room() const {
  if (peer_.empty() || !within_window(sent_messages_ - returned_messages(), sent_bytes_ - returned_bytes())) {
    return false;
  }
  // There must be room for the largest record, because the size of the next record is known only after it has been
  // encoded.
  return !ring_ || ring_->room() >= kLargestRecord;
}

bool RemoteEdge::has_room() const {
  if (room()) return true;
  if (!ring_) return false;
  // The sender asks to be woken and then checks again, because the reader may have returned credit in the meantime.
  starved_ = true;
  ring_->want_credit(true);
  return room();
}

// Used only with rings; over a socket, a Credit message leads to credit().
bool RemoteEdge::poll_room() {
  if (!room_came()) return false;
  starved_ = false;
  ring_->want_credit(false);
  on_room();
  return true;
}

zmq::message_t RemoteEdge::payload_frame(const Buffer& buffer, std::uint64_t& handles, std::size_t index) const {
  if (payloads_ == Payloads::kNone) return {};
  // If the buffer is not in shared memory, or its memory has no counter for this reader, the bytes are sent. Memory
  // that is not counted, such as the arena, needs no counter.
  const bool countable = reader_ < SharedPool::kMaxProcesses;
  if (payloads_ == Payloads::kInline || !buffer.shared() || (buffer.shared()->counted != 0 && !countable)) {
    return frame_of(buffer);
  }
  SharedPool::lend(buffer, reader_);
  handles |= std::uint64_t{1} << index;
  return zmq::message_t(&*buffer.shared(), sizeof(SharedHandle));
}

// This runs for every message to another process, so in every step. It allocates no memory once the reused buffers are
// large enough.
void RemoteEdge::transmit(const Envelope& envelope) {
  std::string& body = outlet_.body_;
  std::vector<Buffer>& payloads = outlet_.payloads_;
  body.clear();
  payloads.clear();
  envelope.type->encode(envelope.message.get(), body, payloads);

  Header header;
  header.payloads = static_cast<std::uint16_t>(payloads.size());
  header.fingerprint = envelope.type->fingerprint;
  header.sequence = envelope.sequence;
  header.source = envelope.source;
  // The reader has chosen this number so that it finds the receiver without a search.
  header.subscription = subscription_;
  header.send_time_ns = envelope.send_time_ns;
  header.trace = envelope.trace;

  // The message is counted before it is sent, since the sending cannot be undone.
  ++sent_messages_;
  sent_bytes_ += body.size();
  // The subscriber must count exactly the same number of bytes. The rule is also in Inlet::decode() and in
  // docs/wire_format.md.
  if (payloads_ != Payloads::kNone) {
    for (const Buffer& payload : payloads) sent_bytes_ += payload.size();
  }
  if (ring_) {
    write_record(*ring_, header, std::as_bytes(std::span(body)), payloads, outlet_.pool_, reader_);
    // The reader is woken after the record is in the ring. If it is awake, this costs only a fence and a load.
    reader_loop_->notify();
  } else {
    transmit_frames(header);
  }
  payloads.clear();
}

void RemoteEdge::transmit_frames(Header header) {
  Frames& frames = outlet_.outgoing_;
  frames.clear();
  // The ROUTER socket removes the first frame, the routing id, and sends the other frames to this peer.
  frames.emplace_back(std::string_view(peer_));
  frames.emplace_back(std::string_view(topic_));
  frames.emplace_back();  // A placeholder for the header, which is filled when it is known which payloads are handles.
  frames.emplace_back(std::string_view(outlet_.body_));
  for (std::size_t i = 0; i < outlet_.payloads_.size(); ++i) {
    frames.push_back(payload_frame(outlet_.payloads_[i], header.handles, i));
  }
  frames[2].rebuild(&header, sizeof header);
  // If sending fails, the peer has disconnected. If it reconnects, it subscribes again or, if the edge must not lose
  // messages, fails (Inlet).
  if (!send_frames(outlet_.socket_, frames)) detach();
}

}  // namespace trainyard::core
