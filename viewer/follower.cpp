// SPDX-License-Identifier: Apache-2.0
#include "viewer/follower.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/loop/quiet_thread.h"
#include "messages/error.h"
#include "messages/json.h"
#include "messages/message_type.h"
#include "messages/order.h"
#include "messages/prediction.h"
#include "viewer/clock.h"
#include "viewer/ending_clues.h"
#include "viewer/graph.h"
#include "viewer/live_hyperparameters.h"
#include "viewer/live_identity.h"
#include "viewer/live_intake.h"
#include "viewer/observation_polls.h"
#include "visitors/door.h"
#include "visitors/watch.h"

namespace trainyard::viewer {

using namespace std::chrono_literals;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// How long the follower waits after an error before it tries again.
constexpr auto kBetweenAttempts = 2s;

/// The work of the follower's thread for one run, until the run ends or an error occurs.
class Follower::Work {
 public:
  Work(Follower& follower, zmq::context_t& context)
      : follower_(follower),
        book_(*follower.book_),
        registry_(context, follower.run_.registry),
        identity_(identify()),
        alerts_(identity_, book_, follower.on_alert_),
        intake_(identity_, book_, alerts_),
        clues_(follower.run_, identity_, book_),
        polls_(registry_, book_),
        watch_(context, follower.run_, topics_of(ask("topics"))) {}

  void run() {
    while (!follower_.stop_ && !watch_.ended()) {
      const bool reading = !intake_.caught_up();
      listen(reading ? 0ms : 20ms);
      if (reading) intake_.catch_up();
      poll();
    }
    if (!follower_.stop_) finish();
  }

 private:
  json ask(const std::string& op) {
    // The thread waits only for short times, so that the follower can be destroyed while a launcher does not answer.
    const std::uint64_t id = registry_.post({{"op", op}});
    const auto until = Clock::now() + 12s;
    while (!follower_.stop_ && Clock::now() < until) {
      if (auto answer = registry_.answer(id, 100ms)) return *std::move(answer);
    }
    throw Error(Code::kTimeout, "the launcher of {} did not answer", follower_.run_.run);
  }

  Identity identify() {
    Identity identity = live_identity(follower_.run_, ask("run"));
    book_.set_identity(identity);
    return identity;
  }

  /// Returns the topics of the run to which the follower listens.
  static std::vector<std::string> topics_of(const json& topics) {
    static const std::vector<std::string> kKnown{"/metrics",     "/log",       "/predictions",
                                                 "/checkpoints", "/orders",    "/rank_metrics",
                                                 "/histograms",  "/confusion", "/samples"};
    std::vector<std::string> wanted;
    for (const json& topic : topics) {
      const std::string name = topic.value("topic", "");
      if (std::ranges::find(kKnown, name) != kKnown.end()) wanted.push_back(name);
    }
    return wanted;
  }

  void listen(std::chrono::milliseconds patience) {
    // A run with short steps sends thousands of messages a second. The number is limited, so that the other work is not
    // delayed.
    for (int i = 0; i < 1000; ++i) {
      const auto message = watch_.next(i == 0 ? patience : 0ms);
      if (!message) return;
      try {
        take(*message);
      } catch (const std::exception&) {
        // A message that does not match its own schema is ignored.
      }
    }
  }

  void take(const visitors::Received& message) {
    if (take_as_one_of<Metrics, LogRecord, Histograms, Confusion, SampleResults, RankMetrics, Order>(message)) return;
    if (message.stream->fingerprint == message_type<Prediction>().fingerprint) take_prediction(message);
  }

  /// If the message has one of these types, enters it into the book and returns true.
  template <Message... Each>
  bool take_as_one_of(const visitors::Received& message) {
    return (take_as<Each>(message) || ...);
  }

  template <Message T>
  bool take_as(const visitors::Received& received) {
    if (received.stream->fingerprint != message_type<T>().fingerprint) return false;
    T message;
    const std::vector<Buffer> none(received.payloads.size());
    decode(message, received.bytes(), none);
    enter(message);
    return true;
  }

  // Converts the message to JSON and not to the struct Prediction, because the struct would refer to the bytes of the
  // tensors, which the follower has not requested.
  void take_prediction(const visitors::Received& message) {
    book_.add(sample_of(json::parse(json_from_binary(message.stream->schema, message.bytes()))));
  }

  void enter(const Metrics& metrics) { intake_.take(metrics); }
  void enter(const LogRecord& record) {
    clues_.see(record);
    intake_.take(record);
  }
  void enter(const Histograms& histograms) { book_.add(histograms); }
  void enter(const Confusion& confusion) { book_.add(confusion); }
  void enter(const SampleResults& samples) { book_.add(samples); }
  void enter(const RankMetrics& metrics) { alerts_.see(metrics); }
  void enter(const Order& order) {
    if (order.kind == OrderKind::kPause) book_.set_phase(RunPhase::kPaused);
    if (order.kind == OrderKind::kGoOn) book_.set_phase(RunPhase::kRunning);
    clues_.see(order);
  }

  void poll() {
    if (const auto observation = polls_.answer()) enter(*observation);
    const bool due = polls_.ask_when_due();
    // The files also contain messages that were missed.
    if (intake_.caught_up() && (due || behind_)) behind_ = intake_.read_files();
  }

  void enter(const visitors::Observation& observation) {
    alerts_.see(observation);
    const bool active = std::ranges::all_of(
        observation.nodes, [](const auto& each) { return each.state == "active" || each.plugin.empty(); });
    if (active && book_.read(&Shelves::phase) == RunPhase::kStarting) book_.set_phase(RunPhase::kRunning);
    if (active && !std::exchange(knows_hyperparameters_, true)) {
      find_hyperparameters(identity_, observation, follower_.book_, follower_.errands_);
    }
    graph_ = graph_of(observation, now_ns());
    book_.set_graph(graph_);
  }

  // Waits until the launcher has ended, because the logger writes its last lines shortly before that. Then reads the
  // rest of the files.
  void finish() {
    const bool killed = watch_.killed() || clues_.launcher_died();
    const auto until = Clock::now() + 10s;
    while (visitors::is_alive(follower_.run_) && Clock::now() < until && !follower_.stop_) {
      std::this_thread::sleep_for(20ms);
    }
    intake_.finish();
    if (!graph_.is_null()) book_.set_graph(graph_at_rest(std::move(graph_)));
    const Ending ending = clues_.ending(killed);
    book_.set_phase(ending.phase, ending.message);
  }

  Follower& follower_;
  Book& book_;
  visitors::RegistryClient registry_;
  Identity identity_;
  LiveAlerts alerts_;
  LiveIntake intake_;
  EndingClues clues_;
  ObservationPolls polls_;
  visitors::Watch watch_;
  json graph_;           ///< The newest graph.
  bool behind_ = false;  ///< True if the files contain more that has not been read yet.
  bool knows_hyperparameters_ = false;
};

Follower::Follower(visitors::RunInfo run, std::shared_ptr<Book> book, OnAlert on_alert)
    : run_(std::move(run)),
      book_(std::move(book)),
      on_alert_(std::move(on_alert)),
      errands_(run_.registry),
      thread_(core::quiet_thread("follower", [this] { follow(); })) {}

Follower::~Follower() {
  stop_ = true;
  errands_.stop();
  thread_.join();
}

void Follower::follow() {
  zmq::context_t context;
  while (!stop_ && !attempt(context)) pause();
  over_ = true;
}

// An error does not show whether a run behind a front door has ended, so such a run counts as failed.
bool Follower::attempt(zmq::context_t& context) {
  try {
    Work work(*this, context);
    book_->set_message("");
    work.run();
    return true;
  } catch (const std::exception& error) {
    if (stop_) return true;
    const bool behind_door = visitors::is_door(run_.registry);
    if (!behind_door && visitors::is_alive(run_)) {
      book_->set_message(error.what());
      return false;
    }
    book_->set_phase(behind_door ? RunPhase::kFailed : RunPhase::kKilled, error.what());
    return true;
  }
}

void Follower::pause() const {
  const auto until = Clock::now() + kBetweenAttempts;
  while (!stop_ && Clock::now() < until) std::this_thread::sleep_for(20ms);
}

}  // namespace trainyard::viewer
