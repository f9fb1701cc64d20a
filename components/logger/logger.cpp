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
/// How often files are written. If the process is killed, at most the messages of this time are lost.
constexpr std::chrono::seconds kFlush{1};

/// Returns the parameters that the launch file and the command line have set, from the launcher's record of the run.
/// Returns nothing if there is no such record.
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

// The display is not in `sinks_`, because it is redrawn at intervals and is not removed after an error.
void Logger::open_console() {
  if (*console_ == ConsoleMode::kOff) return;
  const int fd = console_descriptor();
  const bool live = *console_ == ConsoleMode::kProgress || (*console_ == ConsoleMode::kAuto && is_live_terminal(fd));
  const auto interval =
      std::chrono::duration_cast<Display::Clock::duration>(std::chrono::duration<double>(*console_interval_s_));
  display_ =
      std::make_unique<Display>(fd, live ? Display::Mode::kLive : Display::Mode::kLines, wants_colour(fd), interval);
}

// An error here ends the run before training begins, so that a wrong directory is noticed immediately.
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
  // Only training steps are left out. The metrics of evaluations are rare.
  const bool skipped =
      metrics.stage == "train" && !last && metrics.step % static_cast<std::uint64_t>(*every_steps_) != 0;
  if (!skipped) return tell(metrics);
  // The step is not shown, but it counts for the rate.
  if (display_) display_->count_only(metrics);
}

// The display comes first, because the sinks only buffer the message.
template <class T>
void Logger::tell(const T& message) {
  if (display_) display_->on(message);
  each_sink([&](Sink& sink) { sink.on(message); });
  files_dirty_ = true;
  stir();
}

/// Calls `action` for every sink. If a sink throws, logs the error and removes the sink, so that a full disk does not
/// end the run.
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

/// Redraws the display if it is time to do so. If something remains to be drawn or written, starts the timer, which
/// calls tick().
void Logger::stir() {
  const bool more = display_ && display_->refresh(std::chrono::steady_clock::now());
  if (timer_armed_ || !(more || files_dirty_)) return;
  // tick() starts the timer again as long as necessary. While nothing happens, no timer runs.
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

/// Called again, because messages may have arrived after on_deactivate().
void Logger::on_finalize() {
  finish();
  sinks_.clear();
  display_.reset();
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Logger, "logger", "Shows the run on the console; writes CSV, JSON lines and TensorBoard")
