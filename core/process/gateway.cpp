// SPDX-License-Identifier: Apache-2.0
#include "core/process/gateway.h"

#include <algorithm>

namespace trainyard::core {

namespace {

/// The most messages, and bytes of tensors, that wait between a component's loop and the gateway's.
constexpr std::uint64_t kTapMessages = 64;
constexpr std::uint64_t kTapBytes = 32u << 20;
/// How long messages may wait there for one another. A visitor does not notice this time, in which a fast run makes
/// several steps.
constexpr auto kRest = std::chrono::milliseconds(2);
constexpr std::size_t kEarlyRecords = 256;
/// How long a visitor that disconnected silently may still be counted.
constexpr auto kSweepInterval = std::chrono::milliseconds(1000);

}  // namespace

/// The path from one output to all visitors that listen to it: an edge out of the component, and an input here.
///
/// The component's list of edges belongs to its own loop, so the tap adds and removes its edge there by post(). It is
/// never deleted while the gateway lives; without visitors it is closed, and costs the component nothing.
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

  /// Sends every further message to the edge, and before them the last one, if the output is latched.
  void join(VisitorEdge& edge) {
    edges_.push_back(&edge);
    dropped_before_[&edge] = dropped();
    // A tap that is closing will be opened again, and then the component repeats the message.
    if (last_.message != nullptr && state_ == State::kOpen) edge.send(last_);
    if (state_ == State::kClosed) open();
  }

  void leave(VisitorEdge& edge) {
    std::erase(edges_, &edge);
    dropped_before_.erase(&edge);
    if (edges_.empty() && state_ == State::kOpen) close();
  }

  /// Returns the messages that were lost on the way here since the edge has joined; 0 if it has not.
  std::uint64_t dropped_for(const VisitorEdge& edge) const {
    const auto before = dropped_before_.find(&edge);
    return before == dropped_before_.end() ? 0 : dropped() - before->second;
  }

  /// Passes on all messages that have arrived.
  void drain() {
    while (edge_.message_source().poll()) {
    }
  }

 private:
  enum class State { kClosed, kOpen, kClosing };

  /// Passes messages on as they are; the door encodes them here, on the gateway's loop.
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

  // This is done on the component's loop by post(), because the list of edges must not change under a handler.
  void open() {
    state_ = State::kOpen;
    sender_.post([this] {
      sender_.add(edge_.credit_source());
      output_.add_edge(edge_);
      if (output_.last().message != nullptr) edge_.send(output_.last());
    });
  }

  // The order is: no new messages, no more polling for credits, then the gateway is told. A visitor may have joined
  // meanwhile.
  void close() {
    state_ = State::kClosing;
    sender_.post([this] {
      output_.remove_edge(edge_);
      sender_.remove(edge_.credit_source());
      home_.post([this] {
        drain();  // What is left must not reach a visitor that comes later.
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
  Envelope last_;  ///< The last message of a latched output.
  std::vector<VisitorEdge*> edges_;
  std::map<const VisitorEdge*, std::uint64_t> dropped_before_;
};

Gateway::Gateway(ComponentContext& context, zmq::context_t& zmq, const std::string& address, FindOutputs find)
    : Component(context), find_(std::move(find)), door_(zmq, address, door_owner()), collector_(loop(), kRest) {
  // Everything from here on runs on the gateway's own loop, on the control thread.
  loop().add(door_);
  loop().add(door_.connections());
  loop().add(collector_);
  loop().after(kSweepInterval, [this] { sweep(); });
  // The gateway is a component only in so far as it has ports and a loop: it is in no plan, and nobody else will
  // activate it.
  transition(State::kInactive);
  transition(State::kActive);
}

Gateway::~Gateway() = default;

VisitorDoor::Owner Gateway::door_owner() {
  return {.find = [this](const std::string& topic) { return find_output(topic); },
          .joined = [this](VisitorEdge& edge) { admit(edge); },
          .left = [this](VisitorEdge& edge) { dismiss(edge); }};
}

OutputBase* Gateway::find_output(const std::string& topic) {
  // "/log" belongs to the process itself, because its records come from every component's logger.
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
  // Several components of this process may publish one topic. The visitor sees them in one stream, distinguished by
  // `source`.
  for (OutputBase* output : find_(edge.topic())) {
    auto& tap = taps_[output];
    if (tap == nullptr) tap = std::make_unique<Tap>(*this, *output);
    tap->join(edge);
  }
}

/// The records live on this loop, so no tap is needed. Waiting records are sent when the subscriber has been answered.
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
  // Any thread may log, but only its own loop may use an output.
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

// What was sent is counted at the visitor's end, what was dropped on both hops.
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
