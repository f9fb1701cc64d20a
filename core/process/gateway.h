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
/// A visitor's messages take one hop more than others: from the component's loop through a bounded ring, which drops
/// its oldest entries and counts them, to the gateway's own loop, which encodes and sends them as the visitor's credits
/// allow. The component pays only for the push into the ring; a visitor that is slow, stopped or gone costs it nothing
/// more.
class Gateway final : public Component {
 public:
  /// Finds the outputs that publish a topic in this process; empty if there are none.
  using FindOutputs = std::function<std::vector<OutputBase*>(const std::string& topic)>;

  /// Binds `address` and begins to serve at once, on the control thread. Throws kIo.
  Gateway(ComponentContext& context, zmq::context_t& zmq, const std::string& address, FindOutputs find);
  ~Gateway() override;

  /// The address to which visitors connect.
  const std::string& endpoint() const { return outlet_.endpoint(); }

  /// Publishes a log record. Any thread may call it. A few hundred records from before the first subscriber are kept
  /// for it, because what components say while they are configured should reach the run's files.
  void publish(const LogRecord& record);

  /// What one visitor's edge has carried and dropped, on both of its hops.
  struct VisitorCounters {
    std::string topic;
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;
  };
  /// One entry for each visitor's topic and publisher here. Only the control thread may call it.
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
