// SPDX-License-Identifier: Apache-2.0
#include "core/transport/inlet.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/component/component.h"
#include "core/memory/shared_pool.h"
#include "core/transport/ring_record.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

/// Returns true if messages of the edge may be lost, so that it can be subscribed again after a reconnect.
bool may_lose_messages(const EdgePlan& edge) { return edge.id == kVisitorEdge || edge.policy != Policy::kBlock; }

}  // namespace

// Messages arrive in two ways, and both lead to Component::deliver(): a publisher on the same host sends records
// through a ring, and all others send frames through the socket. Control messages always go through the socket.
RemoteReceiver::RemoteReceiver(Inlet& inlet, InputBase& input, const EdgePlan& plan, std::uint32_t subscription)
    : inlet_(inlet), input_(input), plan_(plan), subscription_(subscription) {}

void RemoteReceiver::deliver(Envelope envelope) {
  ++under_way_;
  input_.owner().deliver({&input_, std::move(envelope), this});
}

void RemoteReceiver::consumed(const Envelope& envelope) {
  --under_way_;
  // In a ring, returning credit costs two additions in shared memory. A system call is needed only if the sender sleeps
  // and has asked to be woken.
  if (ring_) {
    if (ring_->return_credit(envelope.bytes)) sender_->notify();
    return;
  }
  ++messages_;
  bytes_ += envelope.bytes;
  if (flushing_ || messages_ * 2 >= plan_.window_messages || bytes_ * 2 >= plan_.window_bytes) return_credit();
}

void RemoteReceiver::flush() {
  flushing_ = true;
  if (messages_ != 0) return_credit();
}

void RemoteReceiver::return_credit() {
  send_control(inlet_.socket_, {}, Credit{subscription_, messages_, bytes_});
  // The credit counts as returned even if the message does not arrive, because after a reconnect both sides start again
  // from zero.
  messages_ = bytes_ = 0;
}

void RemoteReceiver::renew() {
  messages_ = bytes_ = 0;
  flushing_ = false;
}

// Every subscription gets a new ring, so that no messages of an earlier publisher are left in it.
RingOffer RemoteReceiver::offer_ring(const WakeupHandle& loop) {
  ring_ = SharedRing::make(kRingBytes);
  return {.ring_fd = ring_->handle().fd,
          .ring_inode = ring_->handle().inode,
          .ring_bytes = ring_->handle().segment_bytes,
          .wake = WakeOffer::of(loop)};
}

// If the publisher does not accept the offer, it sends over the socket, and the ring is not needed.
void RemoteReceiver::settle_ring(const WakeOffer* sender) {
  if (sender == nullptr) {
    ring_.reset();
  } else {
    sender_ = std::make_unique<PeerWakeup>(sender->handle());
  }
}

void RemoteReceiver::ring_read() {
  if (ring_->credit_wanted()) sender_->notify();
}

Inlet::Inlet(zmq::context_t& context, const std::string& endpoint, std::uint32_t process_index, EventLoop& loop,
             const RunKeys& keys, std::chrono::milliseconds patience)
    : context_(context),
      endpoint_(endpoint),
      process_index_(process_index),
      loop_(loop),
      patience_(patience),
      socket_(make_socket(context, zmq::socket_type::dealer)),
      imports_(process_index) {
  check_member_address(endpoint, keys);
  present_as_member(socket_, keys);
  socket_.set(zmq::sockopt::ipv6, endpoint.starts_with("tcp://["));
  socket_.connect(endpoint);
}

// The subscription's number is the receiver's index in the list, so the receiver of a message is found from the header
// without a search.
void Inlet::subscribe(InputBase& input, const EdgePlan& edge) {
  const auto number = static_cast<std::uint32_t>(receivers_.size());
  receivers_.push_back(std::make_unique<RemoteReceiver>(*this, input, edge, number));
  // Between two processes of one host, a connection is lost only if one of them ends or closes it. A gateway does this
  // when it has too many connections.
  if (edge.transport == Transport::kTcp && !watch_) watch_connection();
  send_subscribe(number);
}

void Inlet::send_subscribe(std::uint32_t number) {
  RemoteReceiver& receiver = *receivers_[number];
  const EdgePlan& edge = receiver.plan();
  // The transport in the plan decides, because over TCP memory may not be shared even if both processes happen to be on
  // one host.
  const bool same_host = edge.transport != Transport::kTcp;
  const Subscribe request{.subscription = number,
                          .topic = edge.topic,
                          .edge = edge.id,
                          .fingerprint = receiver.input().type().fingerprint,
                          .policy = std::string(name_of(edge.policy)),
                          .window_messages = edge.window_messages,
                          .window_bytes = edge.window_bytes,
                          .payloads = same_host ? "handle" : "inline",
                          .process_index = process_index_};
  // Large parts of a message in a ring are in shared memory, which has no counters for a process with a larger index.
  if (same_host && process_index_ < SharedPool::kMaxProcesses) {
    send_control(socket_, {}, request, receiver.offer_ring(loop_.wakeup_handle()));
  } else if (edge.id != kVisitorEdge) {
    send_control(socket_, {}, request, RingOffer::without_ring(::getpid()));
  } else {
    send_control(socket_, {}, request);
  }
}

void Inlet::watch_connection() {
  watch_.emplace(context_, socket_, loop_, patience_,
                 ConnectionWatch::Reports{.lost =
                                              [this] {
                                                for (const auto& each : receivers_) each->connection_lost();
                                              },
                                          .renewed = [this] { renew_subscriptions(); },
                                          .late = [this] { report_interrupted(); }});
}

void Inlet::renew_subscriptions() {
  for (std::uint32_t i = 0; i < receivers_.size(); ++i) {
    const EdgePlan& edge = receivers_[i]->plan();
    if (edge.transport != Transport::kTcp || !may_lose_messages(edge)) continue;
    receivers_[i]->renew();
    send_subscribe(i);
  }
}

// At the end of a run, all components are inactive before the first process ends, so an inactive component needs no
// more messages.
void Inlet::report_interrupted() {
  for (const auto& receiver : receivers_) {
    InputBase& input = receiver->input();
    const EdgePlan& edge = receiver->plan();
    if (edge.transport != Transport::kTcp || may_lose_messages(edge)) continue;
    if (!receiver->interrupted() || input.owner().state() != State::kActive) continue;
    error_(input, fmt::format("the connection to {} was lost, and messages of topic '{}' to the input '{}' with it",
                              endpoint_, edge.topic, input.name()));
  }
}

bool Inlet::poll() {
  constexpr int kRound = 16;
  int taken = 0;
  for (; taken < kRound && receive_frames(socket_, frames_); ++taken) {
    if (frames_.empty()) continue;
    // A topic is never empty, which distinguishes data from control messages.
    if (frames_[0].size() == 0) {
      handle_control(frames_);
    } else {
      handle_data(frames_);
    }
  }
  bool worked = taken != 0;
  for (std::size_t i = 0; i < receivers_.size(); ++i) worked |= poll_ring(*receivers_[i]);
  return worked;
}

bool Inlet::has_work() const {
  return std::ranges::any_of(receivers_, [](const auto& receiver) { return receiver->has_work(); });
}

bool Inlet::poll_ring(RemoteReceiver& receiver) {
  constexpr int kRound = 16;
  int taken = 0;
  for (; taken < kRound && receiver.has_work(); ++taken) take_record(receiver);
  // The sender is woken once per round and not after every record, which is enough.
  if (taken != 0) receiver.ring_read();
  return taken != 0;
}

void Inlet::take_record(RemoteReceiver& receiver) {
  InputBase& input = receiver.input();
  try {
    payloads_.clear();
    const RingRecord record = read_record(receiver.ring().front(), imports_, payloads_);
    Envelope envelope = decode(record.header, record.body, input);
    // The record is released before the handler runs, so that the writer can continue in the meantime. decode() has
    // copied everything that is needed.
    receiver.ring().pop();
    receiver.deliver(std::move(envelope));
  } catch (const Error& error) {
    // After a record that cannot be read, nothing in the ring can be trusted. The ring is not read any more, so the
    // error is reported only once.
    receiver.connected = false;
    payloads_.clear();
    error_(input, error.what());
  }
}

void Inlet::handle_control(Frames& frames) {
  // Anything that is not a known control message is ignored, so that a newer publisher may send more.
  // For example, an empty message with which the publisher tests the connection.
  if (frames.size() < 3 || frames.size() > 4) return;
  const std::string kind = frames[1].to_string();
  try {
    if (kind == Subscribed::kTypeName) {
      const auto answer = read_message<Subscribed>(frames[2]);
      const auto sender = frames.size() == 4 ? read_message<WakeOffer>(frames[3]) : WakeOffer{};
      acknowledge(answer, frames.size() == 4 ? &sender : nullptr);
    } else if (kind == Flush::kTypeName) {
      const auto flush = read_message<Flush>(frames[2]);
      if (flush.subscription < receivers_.size()) receivers_[flush.subscription]->flush();
    }
  } catch (const Error&) {
    // An answer that cannot be read counts as no answer. The launcher reports processes that are not connected by its
    // deadline.
  }
}

// An answer to a subscription number that was never given is ignored.
void Inlet::acknowledge(const Subscribed& answer, const WakeOffer* sender) {
  if (answer.subscription >= receivers_.size()) return;
  RemoteReceiver& receiver = *receivers_[answer.subscription];
  InputBase& input = receiver.input();
  if (!answer.error.empty()) {
    // The error shows both schemas, one below the other, so that the user can see the difference.
    error_(input, fmt::format("topic '{}': {}\nthe publisher has {}\nthis input '{}' has {}", answer.topic,
                              answer.error, answer.schema, input.name(), input.type().schema_text));
    return;
  }
  try {
    receiver.settle_ring(sender);
  } catch (const Error& error) {
    error_(input, error.what());
    return;
  }
  // The ring is read only from now on, when it is known that its content was written for this subscription.
  receiver.connected = true;
  // The callback is called only once, although acknowledgements arrive again after a reconnect.
  if (connected() && connected_) std::exchange(connected_, nullptr)();
}

bool Inlet::connected() const {
  return std::ranges::all_of(receivers_, [](const auto& each) { return each->connected; });
}

bool Inlet::idle() const {
  return std::ranges::all_of(receivers_, [](const auto& each) { return each->idle(); });
}

// frames[3 + i] exists, because handle_data() has compared the number of frames with the header.
void Inlet::open_payloads(const Header& header, Frames& frames) {
  payloads_.clear();
  for (std::size_t i = 0; i < header.payloads; ++i) {
    zmq::message_t& frame = frames[3 + i];
    if ((header.handles >> i & 1) == 0) {
      payloads_.push_back(buffer_of(std::move(frame)));
      continue;
    }
    if (frame.size() != sizeof(SharedHandle)) {
      throw Error(Code::kCorrupt, "payload {} is a handle of {} bytes; {} expected", i, frame.size(),
                  sizeof(SharedHandle));
    }
    SharedHandle handle;
    std::memcpy(&handle, frame.data(), sizeof handle);
    payloads_.push_back(imports_.open(handle));
  }
}

Envelope Inlet::decode(const Header& header, std::span<const std::byte> body, const InputBase& input) {
  const MessageType& type = input.type();
  if (header.fingerprint != type.fingerprint) {
    throw Error(Code::kTypeMismatch, "message with fingerprint {:016x}; '{}' takes {} {:016x}", header.fingerprint,
                input.name(), type.name, type.fingerprint);
  }
  Envelope envelope{.type = &type,
                    .sequence = header.sequence,
                    .send_time_ns = header.send_time_ns,
                    .trace = header.trace,
                    .bytes = body.size(),
                    .source = header.source};
  // The size is counted as the sender counts it: whole payloads, not the tensors in them. Both sides must agree on the
  // credit that the message uses.
  for (const Buffer& payload : payloads_) envelope.bytes += payload.size();
  // The tensors of the message now refer to the payloads, so the list, which is reused, can be emptied.
  envelope.message = type.decode(body, payloads_);
  payloads_.clear();
  return envelope;
}

// A malformed message that belongs to no known subscription is dropped silently, since there is no input whose
// component could fail.
void Inlet::handle_data(Frames& frames) {
  RemoteReceiver* receiver = nullptr;
  try {
    if (frames.size() < 3) throw Error(Code::kCorrupt, "message of {} frames; at least 3 expected", frames.size());
    const Header header = read_header({static_cast<const std::byte*>(frames[1].data()), frames[1].size()});
    if (header.subscription >= receivers_.size() || frames.size() != 3u + header.payloads) {
      throw Error(Code::kCorrupt, "message of subscription {} with {} frames and {} payloads", header.subscription,
                  frames.size(), header.payloads);
    }
    receiver = receivers_[header.subscription].get();
    InputBase& input = receiver->input();
    open_payloads(header, frames);
    Envelope envelope = decode(header, {static_cast<const std::byte*>(frames[2].data()), frames[2].size()}, input);
    receiver->deliver(std::move(envelope));
  } catch (const Error& error) {
    payloads_.clear();
    if (receiver != nullptr) error_(receiver->input(), error.what());
  }
}

}  // namespace trainyard::core
