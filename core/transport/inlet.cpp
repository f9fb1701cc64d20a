#include "core/transport/inlet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/component/component.h"
#include "messages/error.h"

namespace trainyard {

RemoteReceiver::RemoteReceiver(Inlet& inlet, InputBase& input, const EdgePlan& plan, std::uint32_t subscription)
    : inlet_(inlet), input_(input), plan_(plan), subscription_(subscription) {}

void RemoteReceiver::consumed(const Envelope& envelope) {
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
  messages_ = bytes_ = 0;
}

Inlet::Inlet(zmq::context_t& context, const std::string& endpoint, std::uint32_t process_index)
    : endpoint_(endpoint),
      process_index_(process_index),
      socket_(make_socket(context, zmq::socket_type::dealer)),
      imports_(process_index) {
  check_address(endpoint);
  socket_.connect(endpoint);
}

void Inlet::subscribe(InputBase& input, const EdgePlan& edge) {
  const auto number = static_cast<std::uint32_t>(receivers_.size());
  receivers_.push_back(std::make_unique<RemoteReceiver>(*this, input, edge, number));
  send_control(socket_, {},
               Subscribe{.subscription = number,
                         .topic = edge.topic,
                         .edge = edge.id,
                         .fingerprint = input.type().fingerprint,
                         .policy = edge.policy,
                         .window_messages = edge.window_messages,
                         .window_bytes = edge.window_bytes,
                         .payloads = edge.transport == "tcp" ? "inline" : "handle",
                         .process_index = process_index_});
}

bool Inlet::poll() {
  constexpr int kRound = 16;
  int taken = 0;
  for (; taken < kRound && receive_frames(socket_, frames_); ++taken) {
    if (frames_[0].size() == 0) {
      handle_control(frames_);
    } else {
      handle_data(frames_);
    }
  }
  return taken != 0;
}

void Inlet::handle_control(Frames& frames) {
  if (frames.size() != 3) return;  // A probe.
  const std::string kind = frames[1].to_string();
  if (kind == Subscribed::kTypeName) {
    acknowledge(read_message<Subscribed>(frames[2]));
  } else if (kind == Flush::kTypeName) {
    const auto flush = read_message<Flush>(frames[2]);
    if (flush.subscription < receivers_.size()) receivers_[flush.subscription]->flush();
  }
}

void Inlet::acknowledge(const Subscribed& answer) {
  if (answer.subscription >= receivers_.size()) return;
  RemoteReceiver& receiver = *receivers_[answer.subscription];
  InputBase& input = receiver.input();
  if (!answer.error.empty()) {
    error_(input, fmt::format("topic '{}': {}\nthe publisher has {}\nthis input '{}' has {}", answer.topic,
                              answer.error, answer.schema, input.name(), input.type().schema_text));
    return;
  }
  receiver.connected = true;
  const bool all = std::ranges::all_of(receivers_, [](const auto& each) { return each->connected; });
  if (all && connected_) std::exchange(connected_, nullptr)();
}

std::vector<Buffer>& Inlet::open_payloads(const Header& header, Frames& frames) {
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
  return payloads_;
}

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
    if (header.fingerprint != input.type().fingerprint) {
      throw Error(Code::kTypeMismatch, "message with fingerprint {:016x}; '{}' takes {} {:016x}", header.fingerprint,
                  input.name(), input.type().name, input.type().fingerprint);
    }
    std::vector<Buffer>& payloads = open_payloads(header, frames);
    Envelope envelope{.type = &input.type(),
                      .sequence = header.sequence,
                      .send_time_ns = header.send_time_ns,
                      .trace = header.trace,
                      .bytes = frames[2].size(),
                      .source = header.source};
    for (const Buffer& payload : payloads) envelope.bytes += payload.size();
    envelope.message =
        input.type().decode({static_cast<const std::byte*>(frames[2].data()), frames[2].size()}, payloads);
    payloads.clear();
    input.owner().deliver({&input, std::move(envelope), receiver});
  } catch (const Error& error) {
    payloads_.clear();
    if (receiver != nullptr) error_(receiver->input(), error.what());
  }
}

}  // namespace trainyard
