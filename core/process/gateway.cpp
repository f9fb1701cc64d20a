// SPDX-License-Identifier: Apache-2.0
#include "core/process/gateway.h"

#include <algorithm>

namespace trainyard::core {

namespace {

constexpr std::uint64_t kRing = 64;  ///< The most messages that wait between a component's loop and the gateway's.
constexpr std::size_t kEarlyRecords = 256;
/// How long a visitor that went away silently may still be counted.
constexpr auto kSweepInterval = std::chrono::milliseconds(1000);

}  // namespace

/// The path of one topic to one visitor: an edge out of the component, an input here, and an edge to the visitor.
///
/// The component's list of edges belongs to its own loop, so the relay adds and removes itself there by post(). It must
/// live until both posts have come back, which is why it is removed in three steps: detach, forget, delete.
class Gateway::Relay {
 public:
  // It is added on the component's loop by post(), because the list of edges must not change under a handler.
  Relay(Gateway& gateway, OutputBase& output, RemoteEdge& edge)
      : remote(edge),
        output_(output),
        sender_(output.owner().loop()),
        input_(gateway, output, edge),
        edge_(output, input_, sender_, gateway.loop(), kVisitorEdge, Policy::kDropOldest, kRing, 256u << 20) {
    gateway.loop().add(edge_.message_source());
    sender_.post([this] {
      sender_.add(edge_.credit_source());
      output_.add_edge(edge_);
    });
  }

  /// Takes the edge off the component's output, on the component's own loop, then calls `done` on the gateway's. The
  /// order is: no new messages, no looking for credits, then (on the gateway's loop) nothing more is taken out.
  void detach(EventLoop& home, std::function<void()> done) {
    leaving = true;
    sender_.post([this, &home, done = std::move(done)] {
      output_.remove_edge(edge_);
      sender_.remove(edge_.credit_source());
      home.post([this, &home, done] {
        home.remove(edge_.message_source());
        done();
      });
    });
  }

  std::uint64_t dropped() const {
    return edge_.counters().dropped.load(std::memory_order_relaxed) +
           remote.counters().dropped.load(std::memory_order_relaxed);
  }

  RemoteEdge& remote;
  bool leaving = false;

 private:
  /// Passes messages on as they are; the remote edge encodes them here, on the gateway's loop.
  class RelayInput final : public InputBase {
   public:
    RelayInput(Gateway& gateway, OutputBase& output, RemoteEdge& edge)
        : InputBase(gateway, output.name(), "", output.type(), {}, Unlisted{}), edge_(edge) {}
    void handle(const Envelope& envelope) override { edge_.send(envelope); }

   private:
    RemoteEdge& edge_;
  };

  OutputBase& output_;
  EventLoop& sender_;
  RelayInput input_;
  QueueEdge edge_;
};

Gateway::Gateway(ComponentContext& context, zmq::context_t& zmq, const std::string& address, FindOutputs find)
    : Component(context), outlet_(zmq, address, *context.loop, *context.pool), find_(std::move(find)) {
  // Everything from here on runs on the gateway's own loop, on the control thread.
  outlet_.on_visitor([this](const Subscribe& request, std::string& error) { return admit(request, error); });
  outlet_.on_visitor_gone([this](RemoteEdge& edge) { dismiss(edge); });
  loop().add(outlet_);
  loop().after(kSweepInterval, [this] { sweep(); });
  // The gateway is a component only in so far as it has ports and a loop: it is in no plan, and nobody else will
  // activate it.
  transition(State::kInactive);
  transition(State::kActive);
}

Gateway::~Gateway() = default;

RemoteEdge* Gateway::admit(const Subscribe& request, std::string& error) {
  // "/log" belongs to the process itself, because its records come from every component's logger.
  const std::vector<OutputBase*> outputs =
      request.topic == kLogTopic ? std::vector<OutputBase*>{&log_} : find_(request.topic);
  if (outputs.empty()) {
    error = "no topic '" + request.topic + "' in this process";
    return nullptr;
  }
  // Only the plan may hold up a component; a stranger never may.
  if (request.policy == name_of(Policy::kBlock)) {
    error = "a visitor cannot ask for policy 'block'; allowed: drop_oldest, latest";
    return nullptr;
  }
  // Any other policy becomes the default.
  const Policy policy = request.policy == name_of(Policy::kLatest) ? Policy::kLatest : Policy::kDropOldest;
  if (outputs.front() == &log_) return &admit_to_log(request, policy);
  RemoteEdge& edge = outlet_.add_edge(*outputs.front(), request.topic, kVisitorEdge, policy, request.window_messages,
                                      request.window_bytes);
  // Several components of this process may publish one topic. The visitor sees them in one stream, distinguished by
  // `source`.
  for (OutputBase* output : outputs) relays_.push_back(std::make_unique<Relay>(*this, *output, edge));
  return &edge;
}

/// The records live on this loop, so no relay is needed. What waits is sent when the subscriber has been answered.
RemoteEdge& Gateway::admit_to_log(const Subscribe& request, Policy policy) {
  RemoteEdge& edge =
      outlet_.add_edge(log_, request.topic, kVisitorEdge, policy, request.window_messages, request.window_bytes);
  log_.add_edge(edge);
  log_wanted_ = true;
  for (const LogRecord& record : std::exchange(early_, {})) log_.send(record);
  early_over_ = true;
  return edge;
}

// The edge to the visitor may be removed only after every relay that feeds it.
void Gateway::dismiss(RemoteEdge& edge) {
  // A topic of several publishers has several relays that end in one edge.
  const auto serves = [&edge](const auto& relay) { return &relay->remote == &edge; };
  if (std::ranges::none_of(relays_, serves)) {
    log_.remove_edge(edge);
    log_wanted_ = log_.connections() != 0;
    outlet_.remove_edge(edge);
    return;
  }
  for (const auto& relay : relays_) {
    if (!serves(relay) || relay->leaving) continue;
    relay->detach(loop(), [this, each = relay.get()] { forget(each); });
  }
}

void Gateway::forget(Relay* relay) {
  RemoteEdge& remote = relay->remote;
  std::erase_if(relays_, [relay](const auto& owned) { return owned.get() == relay; });
  // Another relay may still send into the edge.
  const bool last = std::ranges::none_of(relays_, [&](const auto& other) { return &other->remote == &remote; });
  if (last) outlet_.remove_edge(remote);
}

void Gateway::sweep() {
  outlet_.sweep_visitors();
  loop().after(kSweepInterval, [this] { sweep(); });
}

void Gateway::publish(const LogRecord& record) {
  if (!log_wanted_.load(std::memory_order_relaxed)) return;
  // Any thread may log, but only its own loop may use an output.
  loop().post([this, record] { tell(record); });
}

void Gateway::tell(const LogRecord& record) {
  if (early_over_) return log_.send(record);
  early_.push_back(record);
  if (early_.size() > kEarlyRecords) early_.pop_front();
}

// What was sent is counted at the visitor's end, what was dropped on both hops.
std::vector<Gateway::VisitorCounters> Gateway::counters() const {
  std::vector<VisitorCounters> all;
  const auto count = [&all](const RemoteEdge& edge, std::uint64_t dropped) {
    all.push_back({edge.topic(), edge.counters().sent.load(std::memory_order_relaxed), dropped});
  };
  for (const auto& relay : relays_) count(relay->remote, relay->dropped());
  for (const auto& edge : outlet_.edges()) {
    if (&edge->output() == &log_) count(*edge, edge->counters().dropped.load(std::memory_order_relaxed));
  }
  return all;
}

}  // namespace trainyard::core
