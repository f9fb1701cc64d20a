// SPDX-License-Identifier: Apache-2.0
#include "components/logger/logger.h"

#include "archive/run_record.h"
#include "components/logger/csv_sink.h"
#include "components/logger/insights_sink.h"
#include "components/logger/jsonl_sink.h"
#include "components/logger/tensorboard_sink.h"
#include "messages/error.h"

namespace trainyard {
namespace {

constexpr std::chrono::milliseconds kTick = Display::kRedraw;
/// The longest part of the record that may be lost if the process is killed.
constexpr std::chrono::seconds kFlush{1};

/// Returns what the launch file and the command line chose, as the launcher has recorded it; nothing if it has not.
std::map<std::string, nlohmann::json> hyperparameters(const ComponentContext& context, spdlog::logger& log) {
  if (context.output_directory.empty()) return {};
  try {
    return archive::hyperparameters(archive::read_run(context.output_directory));
  } catch (const Error& error) {
    log.debug("TensorBoard gets no hyper-parameters: {}", error.what());
    return {};
  }
}

}  // namespace

Logger::Logger(ComponentContext& context) : Component(context, kTraits) {}

Logger::~Logger() {
  if (timer_armed_) loop().cancel(timer_);
}

void Logger::on_configure() {
  open_console();
  open_files();
}

// The console is not one of the sinks: it redraws at intervals, and it is never given up.
void Logger::open_console() {
  if (*console_ == ConsoleMode::kOff) return;
  const int fd = console_descriptor();
  const bool live = *console_ == ConsoleMode::kProgress || (*console_ == ConsoleMode::kAuto && is_live_terminal(fd));
  const auto interval =
      std::chrono::duration_cast<Display::Clock::duration>(std::chrono::duration<double>(*console_interval_s_));
  display_ =
      std::make_unique<Display>(fd, live ? Display::Mode::kLive : Display::Mode::kLines, wants_colour(fd), interval);
}

// Each sink opens its files itself. An error here, before training, ends the run: a wrong directory should not be
// noticed only after hours.
void Logger::open_files() {
  std::string directory = directory_->empty() ? context().output_directory : *directory_;
  if (directory.empty()) directory = ".";
  if (*csv_) sinks_.push_back(std::make_unique<CsvSink>(directory));
  if (*jsonl_) {
    sinks_.push_back(std::make_unique<JsonlSink>(directory + "/metrics.jsonl"));
    sinks_.push_back(std::make_unique<InsightsSink>(directory + "/insights.jsonl"));
  }
  if (*tensorboard_) {
    sinks_.push_back(std::make_unique<TensorboardSink>(directory + "/tensorboard", hyperparameters(context(), log())));
  }
}

void Logger::on_metrics(const Metrics& metrics) {
  const bool last = metrics.total_steps != 0 && metrics.step >= metrics.total_steps;
  // The metrics of evaluations are rare, so all of them are taken.
  const bool skipped =
      metrics.stage == "train" && !last && metrics.step % static_cast<std::uint64_t>(*every_steps_) != 0;
  if (!skipped) return tell(metrics);
  // The step is skipped but counted, because the rate is that of all steps.
  if (display_) display_->count_only(metrics);
}

// The display comes first, because what is written to files is buffered anyway.
template <class T>
void Logger::tell(const T& message) {
  if (display_) display_->on(message);
  each_sink([&](Sink& sink) { sink.on(message); });
  files_dirty_ = true;
  stir();
}

/// A sink that throws is reported as lost, once, and dropped: a full disk must not end a run of days.
template <class Action>
void Logger::each_sink(Action action) {
  std::erase_if(sinks_, [&](const std::unique_ptr<Sink>& sink) {
    try {
      action(*sink);
      return false;
    } catch (const Error& error) {
      log().error("a record of the run ends here: {}", error.what());
      return true;
    }
  });
}

/// Shows what is due and makes sure that the rest follows. The timer runs only while something waits for it.
void Logger::stir() {
  const bool more = display_ && display_->refresh(std::chrono::steady_clock::now());
  if (timer_armed_ || !(more || files_dirty_)) return;
  // There is only one timer, which is armed again while anything waits. An idle run is not woken.
  timer_armed_ = true;
  timer_ = loop().after(kTick, [this] { tick(); });
}

void Logger::tick() {
  timer_armed_ = false;
  if (std::chrono::steady_clock::now() - last_flush_ >= kFlush) flush_files();
  stir();
}

void Logger::flush_files() {
  last_flush_ = std::chrono::steady_clock::now();
  files_dirty_ = false;
  each_sink([](Sink& sink) { sink.flush(); });
}

void Logger::finish() {
  flush_files();
  if (display_) display_->finish();
}

void Logger::on_deactivate() { finish(); }

/// Messages may still have arrived after deactivation.
void Logger::on_finalize() {
  finish();
  sinks_.clear();
  display_.reset();
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Logger, "logger", "Shows the run on the console; writes CSV, JSON lines and TensorBoard")
