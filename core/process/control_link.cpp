// SPDX-License-Identifier: Apache-2.0
#include "core/process/control_link.h"

namespace trainyard::core {

ControlLink::ControlLink(zmq::context_t& context, const std::string& process, const std::string& endpoint,
                         const RunKeys& keys)
    : socket_(make_socket(context, zmq::socket_type::dealer)) {
  check_member_address(endpoint, keys);
  present_as_member(socket_, keys);
  // The routing id must be set before connect(), because it is part of the handshake.
  socket_.set(zmq::sockopt::routing_id, process);
  socket_.set(zmq::sockopt::ipv6, endpoint.starts_with("tcp://["));
  socket_.connect(endpoint);
}

bool ControlLink::poll() {
  if (!receive_frames(socket_, frames_)) return false;
  // A message with another number of frames is ignored.
  if (frames_.size() == 2) {
    const auto handler = handlers_.find(frames_[0].to_string());
    if (handler != handlers_.end()) handler->second(frames_[1]);
  }
  return true;
}

}  // namespace trainyard::core
