// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "core/loop/event_loop.h"

namespace trainyard::core {

/// The address at which libzmq asks whether a client with a given key may connect. libzmq prescribes this address.
inline constexpr const char* kAdmissionAddress = "inproc://zeromq.zap.01";

/// Decides which processes may connect to sockets that require keys: only processes whose public key is in a list. This
/// applies to all such sockets of one libzmq context. libzmq asks once for each connection, before it reads anything
/// else from the connection (ZAP, ZeroMQ RFC 27).
///
/// An Admission must be added to an event loop. While a handler of this loop runs, new connections wait.
class Admission final : public Source {
 public:
  /// `allowed` contains the public keys, each as 40 characters in Z85 encoding. A context may have only one Admission,
  /// which must be made before the first socket is bound. Throws kInvalidArgument if an element of `allowed` is not a
  /// key, and kIo if libzmq refuses the address.
  Admission(zmq::context_t& context, const std::vector<std::string>& allowed);

  /// Returns the number of connections that were refused.
  std::uint64_t refused() const { return refused_; }

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  void answer(std::string_view request_id, bool admitted);

  zmq::socket_t socket_;
  std::set<std::string> allowed_;  ///< The allowed keys, each as 32 bytes.
  std::uint64_t refused_ = 0;
};

}  // namespace trainyard::core
