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

/// The work of the thread. The session continues after errors, because its observer must not count anything twice.
class RunWatch::Session {
 public:
  Session(RunWatch& watch, zmq::context_t& context)
      : watch_(watch), context_(context), registry_(context, watch.run_.registry), observer_(registry_) {}

  /// Watches the run until an error occurs. Can then be called again.
  void run(const std::stop_token& stop) {
    metrics_.reset();
    // If the topic does not exist, because no component reports metrics, the rest of the run can still be watched.
    if (has_topic(registry_)) metrics_.emplace(context_, watch_.run_, std::vector<std::string>{kTopic});
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
    auto observation = answer();
    if (!observation) return;
    const std::lock_guard lock(watch_.mutex_);
    watch_.counters_.add(*std::move(observation));
    watch_.last_answer_ = Clock::now();
  }

  std::optional<visitors::Observation> answer() {
    try {
      return observer_.answer(milliseconds(0));
    } catch (const Error&) {
      // The launcher refuses to answer, for example because it is busy with too many calls. It will be asked again
      // soon.
      return {};
    }
  }

  RunWatch& watch_;
  zmq::context_t& context_;
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
  zmq::context_t context;
  std::optional<Session> session;
  while (!stop.stop_requested()) {
    try {
      if (!session) session.emplace(*this, context);
      session->run(stop);
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
