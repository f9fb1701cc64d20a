// SPDX-License-Identifier: Apache-2.0
#include "components/prometheus/run_watch.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "core/loop/quiet_thread.h"
#include "messages/error.h"
#include "messages/message_type.h"
#include "visitors/registry_client.h"
#include "visitors/run_observer.h"
#include "visitors/watch.h"

namespace trainyard::prometheus {
namespace {

using std::chrono::milliseconds;

constexpr const char* kTopic = "/metrics";
constexpr milliseconds kBetweenQuestions{1000};
/// The longest wait for messages. The thread reacts to a stop request only after such a wait.
constexpr milliseconds kPatience{100};
/// If the launcher has not answered for this time, the last known values are out of date and no longer shown.
constexpr std::chrono::seconds kStale{10};
/// The largest number of messages that are handled before the thread does its other work.
constexpr int kMessagesInARow = 1000;

bool has_topic(visitors::RegistryClient& registry) {
  const nlohmann::json topics = registry.ask("topics");
  return std::ranges::any_of(topics, [](const auto& topic) { return topic.value("topic", "") == kTopic; });
}

}  // namespace

/// The work of the thread until an error occurs. The thread then makes a new Session.
class RunWatch::Session {
 public:
  Session(RunWatch& watch, zmq::context_t& context)
      : watch_(watch), registry_(context, watch.run_.registry), observer_(registry_) {
    // If the topic does not exist, because no component reports metrics, the rest of the run can still be watched.
    if (has_topic(registry_)) metrics_.emplace(context, watch.run_, std::vector<std::string>{kTopic});
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      listen();
      observe();
    }
  }

 private:
  void listen() {
    if (!metrics_ || metrics_->ended()) return std::this_thread::sleep_for(kPatience);
    for (int i = 0; i < kMessagesInARow; ++i) {
      const auto message = metrics_->next(i == 0 ? kPatience : milliseconds(0));
      if (!message) return;
      if (message->stream->fingerprint == message_type<Metrics>().fingerprint) take(*message);
    }
  }

  void take(const visitors::Received& message) {
    Metrics metrics;
    try {
      decode(metrics, message.bytes());
    } catch (const Error&) {
      return;  // The message does not match its schema, which is an error of the sender. It is ignored.
    }
    const std::lock_guard lock(watch_.mutex_);
    watch_.metrics_.add(metrics);
  }

  void observe() {
    if (Clock::now() >= next_question_) {
      next_question_ = Clock::now() + kBetweenQuestions;
      observer_.ask(watch_.is_scraped() ? visitors::Accounting::kOn : visitors::Accounting::kOff);
    }
    auto observation = observer_.answer(milliseconds(0));
    if (!observation) return;
    const std::lock_guard lock(watch_.mutex_);
    watch_.counters_.add(*std::move(observation));
    watch_.last_answer_ = Clock::now();
  }

  RunWatch& watch_;
  visitors::RegistryClient registry_;
  visitors::RunObserver observer_;
  std::optional<visitors::Watch> metrics_;
  Clock::time_point next_question_{};
};

RunWatch::RunWatch(visitors::RunInfo run, std::function<void(const std::string&)> complain)
    : run_(std::move(run)), complain_(std::move(complain)) {
  const core::SignalsBlocked blocked;  // In the new thread, too: other threads of the program handle signals.
  thread_ = std::jthread([this](const std::stop_token& stop) { this->run(stop); });
}

RunWatch::~RunWatch() = default;

bool RunWatch::is_scraped() const {
  const Clock::time_point last = last_scrape_;
  return last != Clock::time_point::min() && Clock::now() - last < kAccountingTime;
}

// After an error, for instance because the launcher is busy or suspended, tries again.
void RunWatch::run(const std::stop_token& stop) {
  core::lower_priority();
  std::string complaint;
  while (!stop.stop_requested()) {
    zmq::context_t context;
    try {
      Session(*this, context).run(stop);
    } catch (const std::exception& error) {
      if (visitors::is_alive(run_) && std::exchange(complaint, error.what()) != error.what()) complain_(complaint);
      std::this_thread::sleep_for(kBetweenQuestions);
    }
  }
}

std::string RunWatch::scrape(Form form) {
  last_scrape_ = Clock::now();
  Exposition text(form);
  text.family("trainyard_run", Kind::kInfo, "The run and the version of Trainyard.");
  text.sample({{"run", run_.run}, {"name", run_.name}, {"version", TRAINYARD_VERSION}}, 1);
  const std::lock_guard lock(mutex_);
  const bool answers = last_answer_ && Clock::now() - *last_answer_ < kStale;
  text.family("trainyard_launcher_up", Kind::kGauge, "1 if the launcher has answered in the last 10 seconds.");
  text.sample({}, answers ? 1 : 0);
  metrics_.write(text);
  if (answers) counters_.write(text);
  return text.finish();
}

}  // namespace trainyard::prometheus
