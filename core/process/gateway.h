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

/// Serves visitors: whoever attaches to a running launch without being in its plan.
///
/// A visitor's messages take one hop more than others: from the component's loop through a bounded ring that drops its
/// oldest entries (counted) to the gateway's own loop, which encodes and sends them as the visitor's credits allow. All
/// that the component pays is the push into the ring; a visitor that is slow, stopped or gone costs it nothing more.
class Gateway final : public Component {
 public:
  /// Finds the outputs that publish a topic in this process; none if nobody does.
  using FindOutputs = std::function<std::vector<OutputBase*>(const std::string& topic)>;

  /// Binds `address` and begins to serve at once. Throws kIo. On the control thread.
  Gateway(ComponentContext& context, zmq::context_t& zmq, const std::string& address, FindOutputs find);
  ~Gateway() override;

  /// Where visitors connect to.
  const std::string& endpoint() const { return outlet_.endpoint(); }

  /// Publishes a log record. Those from before the first subscriber are kept for it, as far as a few hundred go: what
  /// components say while they are configured should reach the run's files. From any thread.
  void publish(const LogRecord& record);

  /// What one visitor's edge has carried and dropped, on both of its hops.
  struct VisitorCounters {
    std::string topic;
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;
  };
  /// One entry for each visitor's topic and publisher here. On the control thread.
  std::vector<VisitorCounters> counters() const;

 private:
  class Relay;

  // Answers a subscription: the edge, or null and why not.
  RemoteEdge* admit(const Subscribe& request, std::string& error);
  // A visitor is gone: takes its relays off the components.
  void dismiss(RemoteEdge& edge);
  // A relay is off its component; with the last of an edge, the edge goes.
  void forget(Relay* relay);
  // Looks once a second for visitors that went without a word.
  void sweep();
  RemoteEdge& admit_to_log(const Subscribe& request, Policy policy);
  void tell(const LogRecord& record);

  Output<LogRecord> log_{*this, "log", "log records of this process", {.topic = "/log"}};
  Outlet outlet_;
  FindOutputs find_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::deque<LogRecord> early_;  ///< From before the first subscriber of the log; the oldest go first.
  bool early_over_ = false;
  std::atomic<bool> log_wanted_{true};
};

}  // namespace trainyard::core
