// SPDX-License-Identifier: Apache-2.0
#include "core/process/gateway.h"

#include <algorithm>

namespace trainyard::core {

namespace {

/// The maximum number of messages, and of bytes, that wait between a component's loop and the gateway's loop.
constexpr std::uint64_t kTapMessages = 64;
constexpr std::uint64_t kTapBytes = 32u << 20;
/// The interval at which these messages are collected. It is too short for visitors to notice, but long enough for
/// several steps of a fast run.
constexpr auto kRest = std::chrono::milliseconds(2);
constexpr std::size_t kEarlyRecords = 256;
/// The interval between two checks for visitors that have disconnected silently.
constexpr auto kSweepInterval = std::chrono::milliseconds(1000);

}  // namespace

/// The connection between one output and all visitors that listen to it: an edge from the component's loop, and an
/// input on the gateway's loop.
///
/// Only the component's loop may change the list of edges of the output, so the tap posts tasks there that add and
/// remove its edge. A tap exists as long as the gateway. Without visitors it is closed, and costs the component
/// nothing.
class Gateway::Tap {
 public:
  Tap(Gateway& gateway, OutputBase& output)
      : output_(output),
        sender_(output.owner().loop()),
        home_(gateway.loop()),
        input_(gateway, output, *this),
        edge_(output, input_, sender_, home_, kVisitorEdge, Policy::kDropOldest, kTapMessages, kTapBytes),
        door_(gateway.door_) {
    edge_.collect_with(gateway.collector_);
  }

  /// Begins to send all further messages to the edge. If the output is latched, its last message is sent first.
  void join(VisitorEdge& edge) {
    edges_.push_back(&edge);
    dropped_before_[&edge] = dropped();
    // If the tap is closing, it will be opened again, and the component's loop then sends the last message again.
    if (last_.message != nullptr && state_ == State::kOpen) edge.send(last_);
    if (state_ == State::kClosed) open();
  }

  void leave(VisitorEdge& edge) {
    std::erase(edges_, &edge);
    dropped_before_.erase(&edge);
    if (edges_.empty() && state_ == State::kOpen) close();
  }

  /// Returns the number of messages that the tap's ring has dropped since the edge joined; 0 if the edge has not
  /// joined.
  std::uint64_t dropped_for(const VisitorEdge& edge) const {
    const auto before = dropped_before_.find(&edge);
    return before == dropped_before_.end() ? 0 : dropped() - before->second;
  }

  /// Passes all messages in the ring on to the visitors.
  void drain() {
    while (edge_.message_source().poll()) {
    }
  }

 private:
  enum class State { kClosed, kOpen, kClosing };

  /// Receives the messages of the ring on the gateway's loop. They are not encoded yet; the door encodes them here.
  class TapInput final : public InputBase {
   public:
    TapInput(Gateway& gateway, OutputBase& output, Tap& tap)
        : InputBase(gateway, output.name(), "", output.type(), {}, Unlisted{}), tap_(tap) {}
    void handle(const Envelope& envelope) override { tap_.pass_on(envelope); }

   private:
    Tap& tap_;
  };

  std::uint64_t dropped() const { return edge_.counters().dropped.load(std::memory_order_relaxed); }

  void pass_on(const Envelope& envelope) {
    if (output_.options().latched) last_ = envelope;
    door_.send(envelope, edges_);
  }

  // The edge is added by a task on the component's loop, because only this loop may change the output.
  void open() {
    state_ = State::kOpen;
    sender_.post([this] {
      sender_.add(edge_.credit_source());
      output_.add_edge(edge_);
      if (output_.last().message != nullptr) edge_.send(output_.last());
    });
  }

  // The component's loop first removes the edge and stops polling it, and then posts the rest of the work to the
  // gateway's loop. In the meantime, a visitor may have joined.
  void close() {
    state_ = State::kClosing;
    sender_.post([this] {
      output_.remove_edge(edge_);
      // Messages that wait for room in the ring are dropped. The edge can be used again as soon as there is room.
      edge_.receiver_gone();
      sender_.remove(edge_.credit_source());
      home_.post([this] {
        drain();  // Messages that are left in the ring must not reach a visitor that joins later, either.
        last_ = {};
        state_ = State::kClosed;
        if (!edges_.empty()) open();
      });
    });
  }

  OutputBase& output_;
  EventLoop& sender_;
  EventLoop& home_;
  TapInput input_;
  QueueEdge edge_;
  VisitorDoor& door_;
  State state_ = State::kClosed;
  Envelope last_;  ///< The last message, if the output keeps it for later visitors (OutputOptions::latched).
  std::vector<VisitorEdge*> edges_;
  std::map<const VisitorEdge*, std::uint64_t> dropped_before_;
};

Gateway::Gateway(ComponentContext& context, zmq::context_t& zmq, const std::string& address, FindOutputs find)
    : Component(context), find_(std::move(find)), door_(zmq, address, door_owner()), collector_(loop(), kRest) {
  // From here on, all functions of the gateway run on the control loop, except publish() for log records.
  loop().add(door_);
  loop().add(door_.connections());
  loop().add(collector_);
  loop().after(kSweepInterval, [this] { sweep(); });
  // The gateway is a component only because its ports must belong to one. It is not in the plan, so the launcher does
  // not activate it.
  transition(State::kInactive);
  transition(State::kActive);
}

Gateway::~Gateway() = default;

VisitorDoor::Owner Gateway::door_owner() {
  return {.find = [this](const std::string& topic) { return find_output(topic); },
          .joined = [this](VisitorEdge& edge) { admit(edge); },
          .left = [this](VisitorEdge& edge) { dismiss(edge); },
          .failed = [this](const std::string& topic, const std::string& what) { warn_of_failure(topic, what); }};
}

OutputBase* Gateway::find_output(const std::string& topic) {
  // The gateway itself publishes these topics.
  if (topic == kLogTopic) return &log_;
  if (topic == kSpansTopic) return &spans_;
  if (topic == kOperationsTopic) return &operations_;
  const std::vector<OutputBase*> outputs = find_(topic);
  return outputs.empty() ? nullptr : outputs.front();
}

void Gateway::admit(VisitorEdge& edge) {
  if (&edge.output() == &log_) return admit_to_log(edge);
  if (&edge.output() == &spans_ || &edge.output() == &operations_) {
    edge.output().add_edge(edge);
    return spans_changed(edge);
  }
  // Several components of this process may publish the same topic. The visitor receives all their messages in one
  // subscription; Header::source distinguishes them.
  for (OutputBase* output : find_(edge.topic())) {
    auto& tap = taps_[output];
    if (tap == nullptr) tap = std::make_unique<Tap>(*this, *output);
    tap->join(edge);
  }
}

/// The gateway sends log records on its own loop, so no tap is needed. Records that were kept are given to the edge
/// here; it sends them when the subscriber has been answered.
void Gateway::admit_to_log(VisitorEdge& edge) {
  log_.add_edge(edge);
  log_wanted_ = true;
  for (const LogRecord& record : std::exchange(early_, {})) log_.send(record);
  early_over_ = true;
}

void Gateway::dismiss(VisitorEdge& edge) {
  log_.remove_edge(edge);
  for (Output<Spans>* output : {&spans_, &operations_}) output->remove_edge(edge);
  spans_changed(edge);
  if (early_over_) log_wanted_ = log_.connections() != 0;
  for (const auto& [output, tap] : taps_) tap->leave(edge);
}

void Gateway::warn_of_failure(const std::string& topic, const std::string& what) {
  if (!failed_topics_.insert(topic).second) return;
  log().warn("a message of topic '{}' is missing for programs that listen to it: {}; further ones are not reported",
             topic, what);
}

void Gateway::spans_changed(const VisitorEdge& edge) const {
  if (&edge.output() != &spans_ && &edge.output() != &operations_) return;
  if (spans_wanted_) spans_wanted_(spans_.connections() != 0, operations_.connections() != 0);
}

void Gateway::sweep() {
  door_.sweep();
  context().pool->trim();
  loop().after(kSweepInterval, [this] { sweep(); });
}

void Gateway::publish(const LogRecord& record) {
  if (!log_wanted_.load(std::memory_order_relaxed)) return;
  // Any thread may log, but only the gateway's loop may use its output.
  loop().post([this, record] { tell(record); });
}

void Gateway::tell(const LogRecord& record) {
  if (early_over_) return log_.send(record);
  early_.push_back(record);
  if (early_.size() > kEarlyRecords) early_.pop_front();
}

void Gateway::finish() {
  for (const auto& [output, tap] : taps_) tap->drain();
  door_.say_ended();
}

// Messages can be dropped at two places: in the tap's ring, and at the visitor's edge.
std::vector<Gateway::VisitorCounters> Gateway::counters() const {
  std::vector<VisitorCounters> all;
  door_.each([&](const VisitorEdge& edge) {
    std::uint64_t dropped = edge.dropped();
    for (const auto& [output, tap] : taps_) dropped += tap->dropped_for(edge);
    all.push_back({edge.topic(), edge.counters().sent.load(std::memory_order_relaxed), dropped});
  });
  return all;
}

}  // namespace trainyard::core
