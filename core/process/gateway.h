// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/component/component.h"
#include "core/edge/collector.h"
#include "core/edge/queue_edge.h"
#include "core/logging/logging.h"
#include "core/transport/visitor_door.h"
#include "messages/spans.h"

namespace trainyard::core {

/// The part of a process that serves visitors: programs that attach to a running launch without being part of its plan.
///
/// An output that visitors listen to has one tap, however many visitors there are. A tap is an additional bounded ring
/// from the component's loop to the gateway's loop. The gateway encodes each message once and sends it to the visitors
/// as fast as they handle messages. A full ring drops its oldest entries and counts them. The component only pushes
/// messages into the ring, so visitors do not delay it, however many there are and however slow they are. A collector
/// empties the rings a few hundred times a second, so that a component that sends often need not wake the gateway for
/// every message.
class Gateway final : public Component {
 public:
  /// A function that returns the outputs of this process that publish a topic. The list may be empty.
  using FindOutputs = std::function<std::vector<OutputBase*>(const std::string& topic)>;

  /// Binds `address` and begins to serve visitors immediately, on the process's control thread. Throws kIo if the
  /// address cannot be bound.
  Gateway(ComponentContext& context, zmq::context_t& zmq, const std::string& address, FindOutputs find);
  ~Gateway() override;

  /// Returns the address to which visitors connect.
  const std::string& endpoint() const { return door_.endpoint(); }

  /// Publishes a log record. Any thread may call this. Until the log has its first subscriber, the last 256 records are
  /// kept, and the first subscriber receives them. In this way, the log files of a run also contain records from before
  /// the subscription.
  void publish(const LogRecord& record);

  /// Sets the function that is called, on the control thread, whenever a subscription to `/spans` or `/operations`
  /// begins or ends. `spans` is true if `/spans` has subscribers now, and `operations` is true if `/operations` has
  /// subscribers now.
  void on_spans_wanted(std::function<void(bool spans, bool operations)> callback) {
    spans_wanted_ = std::move(callback);
  }
  /// Publishes spans: on `/operations` if `operations` is true, otherwise on `/spans`. Only the control thread may call
  /// this.
  void publish(Spans spans, bool operations) { (operations ? operations_ : spans_).send(std::move(spans)); }

  /// Sends the remaining messages of the components, and tells visitors that no more messages will follow. Called when
  /// every component has been finalized.
  void finish();

  /// The counters of one subscription of a visitor: the number of messages sent to the visitor, and the number dropped,
  /// either in the rings of the taps or at the visitor's edge (VisitorEdge::dropped).
  struct VisitorCounters {
    std::string topic;
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;
  };
  /// Returns one entry for each subscription of each visitor. Only the control thread may call this.
  std::vector<VisitorCounters> counters() const;

 private:
  class Tap;

  VisitorDoor::Owner door_owner();
  OutputBase* find_output(const std::string& topic);
  // Connects a visitor's edge with the outputs of its topic.
  void admit(VisitorEdge& edge);
  void admit_to_log(VisitorEdge& edge);
  // If `edge` is a subscription to spans, calls the function set by on_spans_wanted().
  void spans_changed(const VisitorEdge& edge) const;
  void dismiss(VisitorEdge& edge);
  // Logs a warning about a message that was dropped, once for each topic.
  void warn_of_failure(const std::string& topic, const std::string& what);
  // Checks once a second for visitors that have disconnected silently and for memory that is no longer used.
  void sweep();
  void tell(const LogRecord& record);

  Output<LogRecord> log_{*this, "log", "log records of this process", {.topic = "/log"}};
  Output<Spans> spans_{*this, "spans", "spans of this process", {.topic = "/spans"}};
  Output<Spans> operations_{*this, "operations", "operations of LibTorch in this process", {.topic = "/operations"}};
  FindOutputs find_;
  std::function<void(bool, bool)> spans_wanted_;
  VisitorDoor door_;
  Collector collector_;
  std::map<OutputBase*, std::unique_ptr<Tap>> taps_;  ///< The tap of every output that a visitor has ever listened to.
  /// The log records from the time before the log's first subscription; when there are too many, the oldest are
  /// dropped.
  std::deque<LogRecord> early_;
  bool early_over_ = false;
  std::set<std::string> failed_topics_;  ///< The topics of which a message could not be sent.
  std::atomic<bool> log_wanted_{true};
};

}  // namespace trainyard::core
