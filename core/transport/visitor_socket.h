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
#include "core/transport/stranger_filter.h"
#include "core/transport/visitor_ledger.h"

namespace trainyard::core {

struct Key;

/// The socket to which visitors connect: a bound ROUTER for programs that attach to a running launch and are not
/// trusted.
///
/// The messages from visitors use a bounded amount of memory: the size of their frames is limited, and libzmq stops
/// reading from a visitor whose messages are not handled fast enough. The ledger limits the bytes that visitors leave
/// unread. The number of connections is limited, too.
class VisitorSocket {
 public:
  /// Binds the address. Without a `key`, the address must be one that other hosts cannot reach (check_address()). With
  /// a key, the address must be a TCP address, everything is encrypted (CURVE), a StrangerFilter keeps strangers away,
  /// and the socket accepts only visitors whose keys the ZAP handler of the context admits. Throws kInternal if there
  /// is no such handler yet, because libzmq would then accept every key. `largest_frame` is the size of the largest
  /// frame that a visitor may send; the connection of a visitor that sends a larger frame is closed. `backlog` is the
  /// number of messages from one visitor that may wait to be received. Throws kIo if the address cannot be bound, and
  /// kUnsupported if a key is needed for it.
  VisitorSocket(zmq::context_t& context, const std::string& address, std::size_t largest_frame, int backlog,
                const Key* key = nullptr);

  /// Returns the address to connect to.
  const std::string& endpoint() const { return filter_ ? filter_->endpoint() : limit_.endpoint(); }
  void* handle() { return socket_.handle(); }
  /// Returns the source that watches the number of connections. It must be added to the event loop on which this socket
  /// is used.
  ConnectionLimit& connections() { return limit_; }
  /// Returns the number of connections that were closed before the visitor was admitted, for example because it had no
  /// admitted key or did not follow ZeroMQ's protocol.
  std::uint64_t refused() const { return limit_.refused() + (filter_ ? filter_->refused() : 0); }
  const VisitorLedger& ledger() const { return ledger_; }

  /// Receives one message without waiting, as receive_frames() does. The first frame is the visitor's name.
  bool receive(Frames& frames) { return receive_frames(socket_, frames); }

  /// Returns the account of a visitor, and makes it if it does not exist. The account exists as long as somebody holds
  /// a pointer to it.
  std::shared_ptr<VisitorAccount> account(const std::string& visitor);

  /// Sends the frames, of which the first is the visitor's name. Returns false if the visitor has disconnected. Large
  /// frames must be made with VisitorLedger::frame().
  bool send(std::span<zmq::message_t> frames) { return send_frames(socket_, frames); }

  /// Returns false if the visitor is known to have disconnected. A visitor with unread bytes counts as connected. To
  /// any other visitor, the function sends an empty frame to find out.
  bool present(const std::string& visitor, const std::shared_ptr<VisitorAccount>& account);

  /// Sends `text` as one frame after the frames in `envelope`, of which the first is the visitor's name. Sends nothing
  /// to a visitor that has too many unread bytes or has disconnected.
  void answer(const Frames& envelope, std::string text);

 private:
  // Occasionally removes the accounts to which no pointer is left.
  void forget_accounts();

  std::unique_ptr<StrangerFilter> filter_;  ///< Null without a key. Destroyed after the socket.
  zmq::socket_t socket_;
  ConnectionLimit limit_;
  VisitorLedger ledger_;
  std::map<std::string, std::weak_ptr<VisitorAccount>> accounts_;
  std::size_t many_accounts_ = 64;  ///< When there are this many accounts, the unused ones are removed.
};

}  // namespace trainyard::core
