// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <zmq.hpp>

#include "core/keys/allow_list.h"
#include "core/loop/event_loop.h"

namespace trainyard::front_door {

/// The access control of the front door. libzmq asks it once for each connection whose other side has proved that it
/// has the secret part of a key (ZAP, ZeroMQ RFC 27), before anything else is read from the connection. It admits the
/// keys of a list.
///
/// A context may have only one, which must be made before the door is bound. It is used on the event loop of the door.
class Doorkeeper final : public core::Source {
 public:
  /// Throws kIo.
  Doorkeeper(zmq::context_t& context, core::AllowList allowed);

  /// Returns whose key the connection has on which this message was received; null if the message was not received on
  /// a connection that was admitted here. The answer is libzmq's and not the sender's.
  const core::PublicKey* sender_of(zmq::message_t& message) const;

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  zmq::socket_t socket_;
  core::AllowList allowed_;
};

}  // namespace trainyard::front_door
