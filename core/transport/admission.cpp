// SPDX-License-Identifier: Apache-2.0
#include "core/transport/admission.h"

#include <array>

#include "core/transport/frames.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kKeyBytes = 32;

std::string bytes_of_key(const std::string& key) {
  std::array<std::uint8_t, kKeyBytes> bytes{};
  if (key.size() != kKeyBytes * 5 / 4 || zmq_z85_decode(bytes.data(), key.c_str()) == nullptr) {
    throw Error(Code::kInvalidArgument, "a public key of {} characters; 40 of Z85 are needed", key.size());
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Admission::Admission(zmq::context_t& context, const std::vector<std::string>& allowed)
    : socket_(make_socket(context, zmq::socket_type::rep)) {
  for (const std::string& key : allowed) allowed_.insert(bytes_of_key(key));
  bind_socket(socket_, kAdmissionAddress);
}

// The frames are version, request id, domain, address, identity, mechanism and, for CURVE, the key.
bool Admission::poll() {
  Frames frames;
  if (!receive_frames(socket_, frames)) return false;
  const bool curve = frames.size() == 7 && frames[5].to_string_view() == "CURVE";
  const bool admitted = curve && allowed_.contains(frames[6].to_string());
  if (!admitted) ++refused_;
  answer(frames.size() > 1 ? frames[1].to_string_view() : std::string_view(), admitted);
  return true;
}

void Admission::answer(std::string_view request_id, bool admitted) {
  Frames frames;
  for (const std::string_view text :
       {std::string_view("1.0"), request_id, std::string_view(admitted ? "200" : "400"),
        std::string_view(admitted ? "OK" : "not a member"), std::string_view(), std::string_view()}) {
    frames.emplace_back(text);
  }
  send_frames(socket_, frames);
}

}  // namespace trainyard::core
