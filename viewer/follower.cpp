// SPDX-License-Identifier: Apache-2.0
#include "viewer/follower.h"

#include <signal.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "messages/error.h"
#include "messages/json.h"
#include "messages/message_type.h"
#include "messages/order.h"
#include "messages/prediction.h"
#include "messages/run_state.h"
#include "viewer/clock.h"
#include "viewer/graph.h"
#include "viewer/past_run.h"
#include "viewer/rules.h"
#include "viewer/run_file.h"
#include "visitors/run_observer.h"
#include "visitors/watch.h"

namespace trainyard::viewer {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = 1s;
constexpr auto kShortLook = 300ms;
constexpr std::size_t kMaxErrands = 32;
constexpr std::size_t kSliceBytes = 1u << 20;
/// What arrives while the file is being read for the first time waits in a list of at most so many messages. More of
/// them are not lost: the file has them, too.
constexpr std::size_t kMaxWaiting = 100'000;

/// Returns when a process started, in nanoseconds since 1970, from the ticks since boot.
std::int64_t started_ns(std::uint64_t start_ticks) {
  timespec boot{}, real{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  ::clock_gettime(CLOCK_REALTIME, &real);
  const auto ns = [](const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; };
  const std::int64_t tick = 1'000'000'000LL / ::sysconf(_SC_CLK_TCK);
  return ns(real) - ns(boot) + static_cast<std::int64_t>(start_ticks) * tick;
}

/// Decodes a message if it has this type.
template <Message T>
std::optional<T> decoded(const visitors::Received& received) {
  if (received.stream->fingerprint != message_type<T>().fingerprint) return {};
  T message;
  const std::vector<Buffer> none(received.payloads.size());
  decode(message, received.bytes(), none);
  return message;
}

/// Puts the values of a parameter into a flat map: "accelerator_host.model.plugin".
void flatten(const std::string& name, const json& value, json& map) {
  if (!value.is_object()) {
    map[name] = value;
    return;
  }
  for (const auto& [key, inner] : value.items()) flatten(name + "." + key, inner, map);
}

}  // namespace

/// What one thread does for a run from its beginning to its end.
class Follower::Work {
 public:
  Work(Follower& follower, zmq::context_t& context)
      : follower_(follower),
        book_(*follower.book_),
        registry_(context, follower.run_.registry),
        observer_(registry_),
        rules_(all_rules([this](Alert alert) { raise(std::move(alert)); })) {
    identify();
    file_.emplace(identity_.directory + "/metrics.jsonl", identity_.started_ns);
    insights_.emplace(identity_.directory + "/insights.jsonl", identity_.started_ns);
    watch_.emplace(context, follower.run_, existing_topics());
  }

  void run() {
    while (!follower_.stop_ && !watch_->ended()) {
      const bool reading = !caught_up_;
      listen(reading ? 0ms : 20ms);
      if (reading) catch_up();
      poll();
    }
    if (!follower_.stop_) finish();
  }

 private:
  json ask(const std::string& op) {
    // Short waits, so that the follower can be ended while a launcher does not answer.
    const std::uint64_t id = registry_.post({{"op", op}});
    const auto until = Clock::now() + 12s;
    while (!follower_.stop_ && Clock::now() < until) {
      if (auto answer = registry_.answer(id, 100ms)) return *std::move(answer);
    }
    throw Error(Code::kTimeout, "the launcher of {} did not answer", follower_.run_.run);
  }

  void identify() {
    const json run = ask("run");
    const auto& info = follower_.run_;
    std::string directory = run.value("output_directory", "");
    // A relative directory is relative to where the launcher was called.
    if (!directory.empty() && directory.front() != '/') {
      directory = "/proc/" + std::to_string(info.pid) + "/cwd/" + directory;
      char resolved[4096];
      if (::realpath(directory.c_str(), resolved) != nullptr) directory = resolved;
    }
    identity_ = {info.run, info.name, info.file, directory, "live", started_ns(info.start_ticks)};
    book_.set_identity(identity_);
  }

  std::vector<std::string> existing_topics() {
    std::vector<std::string> wanted;
    for (const json& topic : ask("topics")) {
      const std::string name = topic.value("topic", "");
      for (const char* each : {"/metrics", "/log", "/predictions", "/checkpoints", "/orders", "/rank_metrics",
                               "/histograms", "/confusion", "/samples"}) {
        if (name == each) wanted.push_back(name);
      }
    }
    return wanted;
  }

  void listen(std::chrono::milliseconds patience) {
    // A run with short steps sends thousands of messages a second; other work must come to its turn.
    for (int i = 0; i < 1000; ++i) {
      const auto message = watch_->next(i == 0 ? patience : 0ms);
      if (!message) return;
      try {
        take(*message);
      } catch (const std::exception&) {
        // A message that its own schema does not describe is the sender's mistake, and says nothing about the run.
      }
    }
  }

  void take(const visitors::Received& message) {
    if (const auto metrics = decoded<Metrics>(message)) {
      put(*metrics);
    } else if (const auto record = decoded<LogRecord>(message)) {
      note_error(*record);
      put(*record);
    } else if (message.stream->fingerprint == message_type<Prediction>().fingerprint) {
      // The bytes of the tensors were not requested, so the message is not decoded into the struct, which would refer
      // to them.
      book_.add(sample_of(json::parse(json_from_binary(message.stream->schema, message.bytes()))));
    } else if (const auto histograms = decoded<Histograms>(message)) {
      book_.add(*histograms);
    } else if (const auto confusion = decoded<Confusion>(message)) {
      book_.add(*confusion);
    } else if (const auto samples = decoded<SampleResults>(message)) {
      book_.add(*samples);
    } else if (const auto rank = decoded<RankMetrics>(message)) {
      for (const auto& rule : rules_) rule->on_rank(*rank);
    } else if (const auto order = decoded<Order>(message)) {
      if (order->kind == OrderKind::kPause) book_.set_phase(RunPhase::kPaused);
      if (order->kind == OrderKind::kGoOn) book_.set_phase(RunPhase::kRunning);
      if (order->kind == OrderKind::kStop) stopping_ = true;
    }
  }

  /// What processes complain about when the launcher has died is not why the run has ended.
  void note_error(const LogRecord& record) {
    if (record.level < LogLevel::kError || !error_.empty() || !visitors::is_alive(follower_.run_)) return;
    error_ = record.component + ": " + record.text;
  }

  /// Until the past has been read, messages wait, so that everything is entered in order.
  template <class T>
  void put(const T& message) {
    if (caught_up_) {
      enter(message);
    } else if (waiting_.size() < kMaxWaiting) {
      waiting_.push_back([this, message] { enter(message); });
    }
  }

  void enter(const Metrics& metrics) {
    if (book_.add(metrics)) apply_rules(metrics);
    if (book_.read(&Shelves::phase) == RunPhase::kStarting) book_.set_phase(RunPhase::kRunning);
  }
  void enter(const LogRecord& record) { book_.add(record); }

  // Alerts of the past are shown, but nobody is told of them again.
  void catch_up() {
    silent_ = true;
    const bool more = read_file();
    silent_ = false;
    if (more) return;
    caught_up_ = true;
    for (const auto& enter : waiting_) enter();
    waiting_.clear();
  }

  // A launcher that is slow to answer delays nothing else.
  void poll() {
    try {
      if (const auto observation = observer_.answer(0ms)) on_observation(*observation);
    } catch (const Error&) {
      // The launcher is busy with too many calls. It is asked again soon.
    }
    // The first look of a page only begins the accounting; a short one follows, so that there is something to see soon.
    const bool watched = book_.read([](const Shelves& run) { return run.graph.is_watched(); });
    const bool begins = watched && !watched_;
    watched_ = watched;
    const bool due = begins || Clock::now() >= next_poll_;
    // The file has what was missed as a message.
    if (caught_up_ && (due || behind_)) behind_ = read_file();
    if (!due) return;
    next_poll_ = Clock::now() + (begins ? kShortLook : kPollInterval);
    observer_.ask(watched_ ? visitors::Accounting::kOn : visitors::Accounting::kOff);
  }

  void on_observation(const visitors::Observation& observation) {
    apply_rules(observation);
    const bool active = std::ranges::all_of(
        observation.nodes, [](const auto& each) { return each.state == "active" || each.plugin.empty(); });
    if (active && book_.read(&Shelves::phase) == RunPhase::kStarting) book_.set_phase(RunPhase::kRunning);
    if (active && !std::exchange(knows_parameters_, true)) find_hyperparameters(observation);
    graph_ = graph_of(observation, now_ns());
    book_.set_graph(graph_);
  }

  /// Returns whether there is more to read.
  bool read_file() {
    if (file_->read(kSliceBytes, book_, [this](const Metrics& metrics) { apply_rules(metrics); })) return true;
    return insights_->read(kSliceBytes, book_);
  }

  void apply_rules(const Metrics& metrics) {
    for (const auto& rule : rules_) rule->on_metrics(metrics);
  }

  void apply_rules(const visitors::Observation& observation) {
    Poll poll{.time_ns = now_ns(), .step = book_.read(&Shelves::step)};
    struct statvfs disk {};
    if (::statvfs(identity_.directory.c_str(), &disk) == 0) poll.free_bytes = disk.f_bavail * disk.f_frsize;
    for (const auto& edge : observation.edges) {
      poll.dropped[fmt::format("{} -> {} ({})", edge.from, edge.to, edge.topic)] = edge.dropped;
    }
    for (const auto& rule : rules_) rule->on_poll(poll);
  }

  /// The record of the launch has what the user has chosen. A run without a record is asked for all its parameters.
  void find_hyperparameters(const visitors::Observation& observation) {
    try {
      const auto record = record_of_launch(identity_.directory, identity_.run);
      if (record) return book_.set_hyperparameters(hyperparameters_of(*record));
    } catch (const Error&) {
      // As without a record.
    }
    ask_parameters(observation);
  }

  void ask_parameters(const visitors::Observation& observation) {
    std::vector<std::string> names;
    for (const auto& each : observation.nodes) {
      if (!each.plugin.empty() && each.rank.value_or(0) == 0) names.push_back(each.name);
    }
    follower_.post([book = follower_.book_, names](visitors::RegistryClient& registry) {
      json map = json::object();
      for (const std::string& name : names) {
        const std::size_t slash = name.rfind('/');
        const std::string short_name = slash == std::string::npos ? name : name.substr(slash + 1);
        for (const json& each : registry.call(name, "param.list")) {
          flatten(short_name + "." + each.value("name", ""), each.value("value", json()), map);
        }
      }
      book->set_hyperparameters(std::move(map));
    });
  }

  void raise(Alert alert) {
    book_.add(alert);
    if (!silent_) follower_.on_alert_(identity_, alert);
  }

  /// Returns whether the launcher died before its processes had ended. A launcher that ends its run lives longer than
  /// they do; a follower that was too late to see that knows whether the run was told to stop or had done all steps.
  bool launcher_died() const {
    const bool done = book_.read(
        [](const Shelves& run) { return run.curves.total_steps() != 0 && run.step() >= run.curves.total_steps(); });
    return watch_->killed() || !(visitors::is_alive(follower_.run_) || stopping_ || done);
  }

  // The logger writes its last lines when it is finalized, before the launcher ends.
  void finish() {
    const bool killed = launcher_died();
    const auto until = Clock::now() + 10s;
    while (visitors::is_alive(follower_.run_) && Clock::now() < until && !follower_.stop_) {
      std::this_thread::sleep_for(20ms);
    }
    while (read_file()) {
    }
    for (const auto& enter : waiting_) enter();
    if (!graph_.is_null()) book_.set_graph(graph_at_rest(std::move(graph_)));
    const Ending ending = recorded_ending().value_or(observed_ending(killed));
    book_.set_phase(ending.phase, ending.message);
  }

  /// What the launcher has recorded is right. A run without an output directory has no record.
  std::optional<Ending> recorded_ending() const {
    try {
      const auto record = record_of_launch(identity_.directory, identity_.run);
      if (!record) return {};
      Ending ending = ending_of(*record);
      if (is_over(ending.phase)) return ending;
    } catch (const Error&) {
      // A record that cannot be read says nothing.
    }
    return {};
  }

  Ending observed_ending(bool killed) const {
    if (!error_.empty()) return {RunPhase::kFailed, error_};
    if (killed) return {RunPhase::kKilled, "the launcher was killed"};
    return {RunPhase::kEnded, ""};
  }

  Follower& follower_;
  Book& book_;
  visitors::RegistryClient registry_;
  visitors::RunObserver observer_;
  std::vector<std::unique_ptr<Rule>> rules_;
  Identity identity_;
  json graph_;  ///< The last one.
  std::optional<RunFile> file_, insights_;
  std::optional<visitors::Watch> watch_;
  std::vector<std::function<void()>> waiting_;
  bool caught_up_ = false;
  bool knows_parameters_ = false;
  bool stopping_ = false;  ///< The run has been told to stop.
  std::string error_;      ///< The first error that the run has logged.
  bool silent_ = false;    ///< Alerts are about the past.
  bool behind_ = false;    ///< There is more to read in the file.
  bool watched_ = false;   ///< Somebody looks at the graph.
  Clock::time_point next_poll_{};
};

Follower::Follower(visitors::RunInfo run, std::shared_ptr<Book> book, OnAlert on_alert)
    : run_(std::move(run)), book_(std::move(book)), on_alert_(std::move(on_alert)) {
  // Signals are for the threads of the program, which wait for them.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  follower_ = std::thread([this] { follow(); });
  runner_ = std::thread([this] { run_errands(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Follower::~Follower() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  follower_.join();
  runner_.join();
}

void Follower::follow() {
  zmq::context_t context;
  try {
    Work(*this, context).run();
  } catch (const std::exception& error) {
    if (!stop_) book_->set_phase(visitors::is_alive(run_) ? RunPhase::kFailed : RunPhase::kKilled, error.what());
  }
  over_ = true;
}

bool Follower::post(Errand errand) {
  const std::lock_guard lock(mutex_);
  if (errands_.size() >= kMaxErrands || stop_) return false;
  errands_.push_back(std::move(errand));
  changed_.notify_all();
  return true;
}

void Follower::run_errands() {
  zmq::context_t context;
  for (;;) {
    Errand next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !errands_.empty(); });
      if (stop_) return;
      next = std::move(errands_.front());
      errands_.pop_front();
    }
    try {
      // A client of its own for each errand: answers that come too late cannot be mistaken.
      visitors::RegistryClient registry(context, run_.registry);
      registry.cancel_when([this] { return stop_.load(); });
      next(registry);
    } catch (const std::exception&) {
      // The errand itself reports what concerns its sender.
    }
  }
}

}  // namespace trainyard::viewer
