#include <cstring>

#include "core/component/output.h"
#include "core/memory/shared_pool.h"
#include "core/transport/outlet.h"
#include "messages/header.h"

namespace trainyard {

RemoteEdge::RemoteEdge(Outlet& outlet, OutputBase& output, std::string topic, std::uint32_t id, Policy policy,
                       std::uint64_t window_messages, std::uint64_t window_bytes)
    : Edge(output, id, policy, window_messages, window_bytes), outlet_(outlet), topic_(std::move(topic)) {}

void RemoteEdge::attach(std::string_view peer, const Subscribe& subscription) {
  peer_ = peer;
  subscription_ = subscription.subscription;
  reader_ = subscription.process_index;
  payloads_ = subscription.payloads == "handle"   ? Payloads::kHandle
              : subscription.payloads == "inline" ? Payloads::kInline
                                                  : Payloads::kNone;
  window_messages_ = std::max<std::uint64_t>(subscription.window_messages, 1);
  window_bytes_ = std::max<std::uint64_t>(subscription.window_bytes, 1);
  sent_messages_ = sent_bytes_ = returned_messages_ = returned_bytes_ = 0;
}

void RemoteEdge::detach() { peer_.clear(); }

void RemoteEdge::credit(std::uint64_t messages, std::uint64_t bytes) {
  // Never more than was sent, whatever the peer says.
  returned_messages_ = std::min(returned_messages_ + messages, sent_messages_);
  returned_bytes_ = std::min(returned_bytes_ + bytes, sent_bytes_);
  on_room();
}

void RemoteEdge::request_flush() {
  if (!peer_.empty() && !drained()) send_control(outlet_.socket_, peer_, Flush{subscription_});
}

bool RemoteEdge::has_room() const {
  return !peer_.empty() && within_window(sent_messages_ - returned_messages_, sent_bytes_ - returned_bytes_);
}

zmq::message_t RemoteEdge::payload_frame(const Buffer& buffer, std::uint64_t& handles, std::size_t index) const {
  if (payloads_ == Payloads::kNone) return {};
  if (payloads_ == Payloads::kInline || !buffer.shared() || reader_ >= SharedPool::kMaxProcesses)
    return frame_of(buffer);
  SharedPool::lend(buffer, reader_);
  handles |= std::uint64_t{1} << index;
  return zmq::message_t(&*buffer.shared(), sizeof(SharedHandle));
}

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
  header.subscription = subscription_;
  header.send_time_ns = envelope.send_time_ns;
  header.trace = envelope.trace;

  Frames& frames = outlet_.outgoing_;
  frames.clear();
  frames.emplace_back(std::string_view(peer_));
  frames.emplace_back(std::string_view(topic_));
  frames.emplace_back();  // The header, once it is known which payloads are handles.
  frames.emplace_back(std::string_view(body));
  std::uint64_t bytes = body.size();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    frames.push_back(payload_frame(payloads[i], header.handles, i));
    if (payloads_ != Payloads::kNone) bytes += payloads[i].size();
  }
  frames[2].rebuild(&header, sizeof header);
  payloads.clear();

  ++sent_messages_;
  sent_bytes_ += bytes;
  if (!send_frames(outlet_.socket_, frames)) detach();
}

}  // namespace trainyard
