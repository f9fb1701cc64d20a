// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_link.h"

#include <utility>

#include "core/transport/frames.h"
#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::launch {
namespace {

constexpr int kReconnectMilliseconds = 500;

}  // namespace

HostLink::HostLink(zmq::context_t& context, PollLoop& loop, std::string endpoint, const core::RunKeys& key)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      socket_(core::make_socket(context, zmq::socket_type::dealer)),
      watch_(loop.watch_socket(socket_.handle(), [this] { receive(); })),
      heard_(loop.now()) {
  core::check_member_address(endpoint_, key);
  core::present_as_member(socket_, key);
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxBodyBytes));
  // With this option, send() fails while there is no connection, instead of queuing the message.
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::reconnect_ivl, kReconnectMilliseconds);
  socket_.set(zmq::sockopt::ipv6, endpoint_.starts_with("tcp://["));
  socket_.connect(endpoint_);
}

HostLink::~HostLink() { loop_.cancel(watch_); }

bool HostLink::send(const std::string& type, const std::string& body) {
  core::Frames frames;
  frames.emplace_back(std::string_view(type));
  frames.emplace_back(std::string_view(body));
  return core::send_frames(socket_, frames);
}

// A handler may end the use of this link, but must not destroy it.
void HostLink::receive() {
  core::Frames frames;
  while (core::receive_frames(socket_, frames)) {
    heard_ = loop_.now();
    if (frames.size() == 2) messages_.handle(frames[0].to_string(), frames[1].to_string());
  }
}

}  // namespace trainyard::launch
