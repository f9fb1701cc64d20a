// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <zmq.hpp>

#include "core/transport/connection_limit.h"
#include "core/transport/frames.h"
#include "core/transport/visitor_ledger.h"

namespace trainyard::core {

/// The socket to which visitors connect: a bound ROUTER for programs about which nothing is known.
///
/// Whatever they send, it takes a bounded amount of memory: frames have a largest size, and libzmq stops reading from a
/// visitor whose messages are not handled fast enough. The ledger bounds what they leave unread. The number of their
/// connections is bounded, too.
class VisitorSocket {
 public:
  /// Binds the address, which must be on this host. `largest_frame` is the size of the largest frame that a visitor may
  /// send; the connection of one that sends a larger one is closed. `backlog` is how many messages of one visitor may
  /// wait here. Throws kIo.
  VisitorSocket(zmq::context_t& context, const std::string& address, std::size_t largest_frame, int backlog);

  /// Returns the address to connect to.
  const std::string& endpoint() const { return limit_.endpoint(); }
  void* handle() { return socket_.handle(); }
  /// Returns the source that watches the number of connections. The same loop must poll it.
  ConnectionLimit& connections() { return limit_; }
  const VisitorLedger& ledger() const { return ledger_; }

  /// Receives one message without waiting, as receive_frames() does. The first frame is the visitor's name.
  bool receive(Frames& frames) { return receive_frames(socket_, frames); }

  /// Returns the account of a visitor. It exists as long as anybody holds it.
  std::shared_ptr<VisitorAccount> account(const std::string& visitor);

  /// Sends the frames, whose first one is the visitor's name. Returns false if the visitor is gone. The caller makes
  /// the large frames with VisitorLedger::frame().
  bool send(std::span<zmq::message_t> frames) { return send_frames(socket_, frames); }

  /// Returns false if the visitor is certainly gone. To find out, this sends an empty frame, unless the visitor has
  /// something unread, which shows that it is still connected.
  bool present(const std::string& visitor, const std::shared_ptr<VisitorAccount>& account);

  /// Sends text in one frame, preceded by `envelope`, whose first frame is the visitor's name. Sends nothing to a
  /// visitor that leaves too much unread or is gone.
  void answer(const Frames& envelope, std::string text);

 private:
  // Forgets the accounts that nobody holds, once in a while.
  void forget_accounts();

  zmq::socket_t socket_;
  ConnectionLimit limit_;
  VisitorLedger ledger_;
  std::map<std::string, std::weak_ptr<VisitorAccount>> accounts_;
  std::size_t many_accounts_ = 64;  ///< When there are this many accounts, those that nobody holds are removed.
};

}  // namespace trainyard::core
