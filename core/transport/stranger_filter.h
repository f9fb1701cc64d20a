// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "core/files/file_descriptor.h"
#include "core/transport/byte_relay.h"
#include "core/transport/curve_opening.h"
#include "core/transport/descriptor_budget.h"
#include "core/transport/examination_limit.h"
#include "core/transport/inner_door.h"
#include "core/transport/recent_keys.h"
#include "core/transport/stranger_queues.h"

namespace trainyard::core {

/// Keeps strangers (clients that have not been admitted) away from a ZeroMQ socket that is reachable over a network, so
/// that a flood of connections does not delay the admitted clients (docs/decisions/0038). ZeroMQ would serve all
/// connections on one thread.
///
/// The filter listens at the TCP port in place of the socket, on a thread of its own. The socket itself is bound to an
/// address to which only this object can connect (InnerDoor). The filter connects a client to the socket only after the
/// client has shown that it knows the socket's public key. The socket then examines the client's own key; an
/// ExaminationLimit limits the number of these examinations. Once the socket has admitted the key, a ByteRelay passes
/// on the bytes of the connection.
class StrangerFilter {
 public:
  /// The limits on the connections.
  struct Limits {
    /// The maximum number of strangers that have not shown yet that they know the socket's public key. When one more
    /// connects, the oldest of them is closed. The same maximum applies to the strangers that have shown it and wait
    /// for their turn; any further ones are closed.
    std::size_t strangers;
    /// The maximum number of clients that are admitted or whose keys are being examined. Others wait for their turn.
    std::size_t admitted;
    std::size_t buffer = ByteRelay::kBuffer;  ///< The `buffer` of the ByteRelay, in bytes.
  };

  /// Returns the number of strangers for which this process has enough descriptors. Calls raise_descriptor_limit().
  static std::size_t most_strangers();
  /// Returns the number of admitted connections for which this process has enough descriptors besides those of
  /// most_strangers() strangers, provided that it needs only few for anything else. Calls raise_descriptor_limit().
  static std::size_t most_admitted();

  /// Listens at `address`, such as "tcp://0.0.0.0:7000", and binds `socket`. With '*' in place of the port, the kernel
  /// chooses one. The socket must not be bound yet, must have its keys (CURVE), and must be closed before this object
  /// is destroyed. Throws kIo, with the address and the reason, if it cannot listen.
  StrangerFilter(zmq::socket_t& socket, const std::string& address, const Limits& limits);
  /// Passes on the last bytes from the socket, then closes all connections.
  ~StrangerFilter();
  StrangerFilter(const StrangerFilter&) = delete;
  StrangerFilter& operator=(const StrangerFilter&) = delete;

  /// Returns the address to connect to, with the actual port.
  const std::string& endpoint() const { return endpoint_; }
  /// Returns the number of connections that were closed before they reached the socket.
  std::uint64_t refused() const { return refused_; }

 private:
  using Clock = StrangerQueues::Clock;
  enum class Key { kNotAdmitted, kAdmitted };

  void run();
  int milliseconds_to_wait() const;
  void accept();
  void handle(Stranger& stranger);
  void hear(Stranger& stranger);
  // Returns true if the process has descriptors left for one more connection to the socket.
  bool has_descriptors();
  void examine_next();
  void examine(Stranger& stranger);
  void pass_between(Stranger& stranger);
  void admit(Stranger& stranger);
  void close(Stranger& stranger, Key key = Key::kNotAdmitted);
  void forget(const FileDescriptor& socket);
  void close_late(Clock::time_point now);

  const Limits limits_;
  const CurveOpening opening_;
  FileDescriptor listener_;
  std::string endpoint_;
  FileDescriptor epoll_, wakeup_;
  InnerDoor inner_;
  ByteRelay relay_;
  StrangerQueues strangers_;
  RecentKeys recent_;
  ExaminationLimit examinations_;
  DescriptorBudget descriptors_;
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace trainyard::core
