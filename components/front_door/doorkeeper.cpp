// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/doorkeeper.h"

#include <string>
#include <utility>

#include "core/transport/admission.h"
#include "core/transport/frames.h"

namespace trainyard::front_door {
namespace {

/// ZeroMQ attaches the user in the answer to every message of the connection, as a property with this name.
constexpr const char* kUser = "User-Id";

}  // namespace

Doorkeeper::Doorkeeper(zmq::context_t& context, core::AllowList allowed)
    : socket_(core::make_socket(context, zmq::socket_type::rep)), allowed_(std::move(allowed)) {
  core::bind_socket(socket_, core::kAdmissionAddress);
}

// The frames of a ZAP request are version, request id, domain, address, identity, mechanism and, for CURVE, the key.
// Those of the reply are version, request id, status code, status text, user and metadata.
bool Doorkeeper::poll() {
  core::Frames question;
  if (!core::receive_frames(socket_, question)) return false;
  const bool has_key = question.size() == 7 && question[5].to_string_view() == "CURVE";
  const core::PublicKey* user = has_key ? allowed_.find_bytes(question[6].to_string_view()) : nullptr;
  const std::string id = question.size() > 1 ? question[1].to_string() : "";
  core::Frames answer;
  for (const std::string& frame : {std::string("1.0"), id, std::string(user != nullptr ? "200" : "400"),
                                   std::string(user != nullptr ? "OK" : "this key is not admitted"),
                                   user != nullptr ? user->text : std::string(), std::string()}) {
    answer.emplace_back(std::string_view(frame));
  }
  core::send_frames(socket_, answer);
  return true;
}

const core::PublicKey* Doorkeeper::sender_of(zmq::message_t& message) const {
  const char* user = zmq_msg_gets(message.handle(), kUser);
  return user == nullptr ? nullptr : allowed_.find(user);
}

}  // namespace trainyard::front_door
