// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <zmq.hpp>

#include "core/keys/allow_list.h"
#include "core/loop/event_loop.h"

namespace trainyard::front_door {

/// Decides who may enter through the front door: the owners of the keys in a list. libzmq asks it once for each
/// connection, after the other side has proved that it has the secret part of a key and before anything else is read
/// from the connection (ZAP, ZeroMQ RFC 27).
///
/// A context may have only one Doorkeeper, which must be made before the door is bound. It is used on the event loop of
/// the door.
class Doorkeeper final : public core::Source {
 public:
  /// `allowed` contains the keys of the visitors that may enter. Throws kIo if libzmq refuses the address.
  Doorkeeper(zmq::context_t& context, core::AllowList allowed);

  /// Returns the key that was admitted for the connection on which `message` arrived; null if there is none. libzmq
  /// records the key with the message, so a sender cannot claim another key.
  const core::PublicKey* sender_of(zmq::message_t& message) const;

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  zmq::socket_t socket_;
  core::AllowList allowed_;
};

}  // namespace trainyard::front_door
