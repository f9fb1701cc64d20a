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

/// Keeps strangers away from a socket of ZeroMQ that listens on a network, so that a flood of connections does not
/// delay those who have been admitted (docs/decisions/0038). ZeroMQ would serve all connections on one thread.
///
/// The filter listens at the TCP port in place of the socket, on a thread of its own. The socket itself is bound to an
/// address that has no name, to which only this object can connect. A connection reaches the socket only if the other
/// side has shown that it knows the public key of the socket, and then in limited numbers until the socket has admitted
/// its key. From then on, a ByteRelay passes its bytes on.
class StrangerFilter {
 public:
  /// How many connections may exist at the same time.
  struct Limits {
    /// Those that have not shown yet that they know the public key of the socket. The oldest one is closed when another
    /// one comes. As many others, which have shown it, may wait for their turn; further ones are closed.
    std::size_t strangers;
    std::size_t admitted;
    std::size_t buffer = ByteRelay::kBuffer;  ///< The most bytes of an admitted connection on their way, per direction.
  };

  /// Returns the number of strangers for which this process has enough descriptors. Raises the limit of descriptors.
  static std::size_t most_strangers();
  /// Returns the number of admitted connections for which this process has enough descriptors, if it needs few others.
  static std::size_t most_admitted();

  /// Listens at `address`, such as "tcp://0.0.0.0:7000", and binds `socket`. With '*' in place of the port, the kernel
  /// chooses one. The socket must not be bound yet, must have its keys (CURVE), and must be closed before this object
  /// is destroyed. Throws kIo, with the address and the reason.
  StrangerFilter(zmq::socket_t& socket, const std::string& address, const Limits& limits);
  /// Closes all connections, after it has passed on the last bytes of the socket.
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
