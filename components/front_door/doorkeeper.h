// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <zmq.hpp>

#include "core/keys/allow_list.h"
#include "core/loop/event_loop.h"

namespace trainyard::front_door {

/// Decides which connections the front door accepts. The front door is the component through which visitors, that is,
/// programs such as `trainyard topic echo`, attach to the run from other hosts. It accepts the visitors whose keys are
/// in a list. This class implements ZAP (ZeroMQ RFC 27): ZeroMQ asks it once for each connection, after the other side
/// has proved that it has the secret part of a key, and before anything else is read from the connection.
///
/// A ZeroMQ context may have only one Doorkeeper, which must be made before the socket of the front door is bound. The
/// caller must add it to the event loop of this socket; until then, no connection is accepted.
class Doorkeeper final : public core::Source {
 public:
  /// `allowed` contains the keys that are accepted. Throws kIo if the address to which ZeroMQ sends its questions is
  /// already in use.
  Doorkeeper(zmq::context_t& context, core::AllowList allowed);

  /// Returns the key that was accepted for the connection on which `message` has arrived, or null if there is none.
  /// ZeroMQ attaches the key to each message, so a sender cannot claim another key.
  const core::PublicKey* sender_of(zmq::message_t& message) const;

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  zmq::socket_t socket_;
  core::AllowList allowed_;
};

}  // namespace trainyard::front_door
