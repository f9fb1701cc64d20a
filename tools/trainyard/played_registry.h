// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <zmq.hpp>

#include "core/loop/event_loop.h"
#include "core/transport/storm_trim.h"
#include "core/transport/visitor_socket.h"

namespace trainyard::tools {

/// The registry of a recording that `bag play` plays: the socket at which programs ask which topics exist. It answers
/// the questions "run", "topics" and "nodes" in the same way as the launcher of a running launch (docs/wire_format.md,
/// section 2). It refuses calls to components, because there are none.
class PlayedRegistry final : public core::Source {
 public:
  /// A function that returns the answer to one of the three questions.
  using Describe = std::function<nlohmann::json(const std::string& op)>;

  /// Binds the address. Throws kIo if the address cannot be bound.
  PlayedRegistry(zmq::context_t& context, const std::string& address, Describe describe);

  const std::string& endpoint() const { return socket_.endpoint(); }
  /// Returns the event source that limits the number of connections. The caller must add it to the event loop to which
  /// it adds this registry.
  core::Source& connections() { return socket_.connections(); }

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<core::VisitorSocket&>(socket_).handle(); }

 private:
  nlohmann::json answer_to(std::string_view text) const;

  core::VisitorSocket socket_;
  Describe describe_;
  core::Frames frames_;
  core::StormTrim trim_;
};

}  // namespace trainyard::tools
