// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/component/component.h"
#include "core/edge/queue_edge.h"
#include "core/logging/logging.h"
#include "core/transport/outlet.h"

namespace trainyard::core {

/// Serves visitors: programs that attach to a running launch without being in its plan.
///
/// A visitor's messages pass through an additional bounded ring from the component's loop to the gateway's own loop,
/// which encodes and sends them as the visitor's credits allow. A full ring drops its oldest entries and counts them.
/// The component only pushes messages into the ring, so a visitor that is slow, stopped or gone does not delay it.
class Gateway final : public Component {
 public:
  /// Finds the outputs that publish a topic in this process; empty if there are none.
  using FindOutputs = std::function<std::vector<OutputBase*>(const std::string& topic)>;

  /// Binds `address` and begins to serve at once, on the control thread. Throws kIo.
  Gateway(ComponentContext& context, zmq::context_t& zmq, const std::string& address, FindOutputs find);
  ~Gateway() override;

  /// Returns the address to which visitors connect.
  const std::string& endpoint() const { return outlet_.endpoint(); }

  /// Publishes a log record. Any thread may call it. A few hundred records from before the first subscriber are kept
  /// for it, because messages logged during configuration should be in the run's files, too.
  void publish(const LogRecord& record);

  /// The numbers of messages that one visitor's edge has sent and dropped, both in the ring and on the socket.
  struct VisitorCounters {
    std::string topic;
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;
  };
  /// Returns one entry for each topic that a visitor receives from an output of this process. Only the control thread
  /// may call it.
  std::vector<VisitorCounters> counters() const;

 private:
  class Relay;

  // Answers a subscription with an edge, or with null and the reason.
  RemoteEdge* admit(const Subscribe& request, std::string& error);
  // Detaches a visitor's relays from the components, because the visitor is gone.
  void dismiss(RemoteEdge& edge);
  // Called when a relay has been detached from its component. With the last relay of an edge, the edge is removed.
  void forget(Relay* relay);
  // Looks once a second for visitors that went away silently.
  void sweep();
  RemoteEdge& admit_to_log(const Subscribe& request, Policy policy);
  void tell(const LogRecord& record);

  Output<LogRecord> log_{*this, "log", "log records of this process", {.topic = "/log"}};
  Outlet outlet_;
  FindOutputs find_;
  std::vector<std::unique_ptr<Relay>> relays_;
  /// The records from before the first subscriber of the log; the oldest are dropped first.
  std::deque<LogRecord> early_;
  bool early_over_ = false;
  std::atomic<bool> log_wanted_{true};
};

}  // namespace trainyard::core
