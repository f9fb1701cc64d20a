// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "components/logger/display.h"
#include "components/logger/sink.h"
#include "core/component/component.h"
#include "core/loop/event_loop.h"

namespace trainyard {

/// What the logger shows on the console: a live line (kProgress), lines only (kLines), nothing (kOff), or a live line
/// on a terminal and lines otherwise (kAuto).
enum class ConsoleMode : std::uint8_t { kAuto, kProgress, kLines, kOff };
constexpr auto words_of(ConsoleMode) { return words("console mode", "auto", "progress", "lines", "off"); }

/// The component that shows the run on the console and records its metrics in files. So that it does not delay the run,
/// its inputs can buffer thousands of messages, and it writes files at most once a second.
///
/// It writes these files into `directory`:
// clang-format off
///   metrics_<stage>.csv   one table of metrics for each stage, such as train or validate (csv_sink.h)
///   metrics.jsonl         metrics, predictions, log records and more, one JSON object per line (jsonl_sink.h)
///   insights.jsonl        histograms, confusion matrices and samples, if there are any (insights_sink.h)
///   tensorboard/          event files (tensorboard_sink.h)
// clang-format on
///
/// The logger appends to existing CSV and JSONL files and never overwrites them. If a file can no longer be written,
/// the logger reports an error and stops writing it; training continues.
///
/// Log records are written to metrics.jsonl. They are not shown on the console, because each process prints its own log
/// to standard error.
class Logger final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "io"};

  explicit Logger(ComponentContext& context);
  ~Logger() override;

 protected:
  void on_configure() override;
  void on_deactivate() override;
  void on_finalize() override;

 private:
  // Chooses the style of the display from the parameter `console` and the kind of the file descriptor.
  void open_console();
  void open_files();
  // Calls tell(), except for training steps that the parameter `every_steps` leaves out.
  void on_metrics(const Metrics& metrics);
  // Passes a message to the display and to all sinks (which write files).
  template <class T>
  void tell(const T& message);
  template <class Action>
  void each_sink(Action action);
  void stir();
  void tick();
  // Writes all buffered text to the files.
  void flush_files();
  // Called at the end of the run. Shows the final state of the run and writes all buffered text.
  void finish();

  // The options of an optional input. It can buffer thousands of messages, so that a burst of short steps does not
  // block the sender.
  static InputOptions listening(std::string topic) {
    return {.optional = true, .window_messages = 4096, .topic = std::move(topic)};
  }
  static InputOptions required(std::string topic) { return {.window_messages = 4096, .topic = std::move(topic)}; }

  Parameter<ConsoleMode> console_{*this, "console", ConsoleMode::kAuto,
                                  "what to show: a live line (progress), lines, nothing (off), or progress on a "
                                  "terminal and lines elsewhere (auto)"};
  Parameter<double> console_interval_s_{
      *this, "console_interval_s", 1,
      "where lines are shown: the shortest time between the lines of two training steps; "
      "0 = a line for every step",
      between(0, 86'400) | in_unit("s")};
  Parameter<bool> csv_{*this, "csv", true, "write metrics_<stage>.csv"};
  Parameter<bool> jsonl_{*this, "jsonl", true, "write metrics.jsonl"};
  Parameter<bool> tensorboard_{*this, "tensorboard", true, "write TensorBoard event files"};
  Parameter<std::int64_t> every_steps_{*this, "every_steps", 1,
                                       "log the metrics of every n-th training step, and of the last one", positive()};
  Parameter<std::string> directory_{*this, "directory", "",
                                    "directory of the files; default: the run's output directory"};

  Input<Metrics> metrics_{*this, "metrics", "the metrics of the run", [this](const auto& m) { on_metrics(*m); },
                          required("/metrics")};
  Input<ModelInfo> model_{*this, "model", "the model that is trained", [this](const auto& m) { tell(*m); },
                          listening("/model")};
  Input<DatasetInfo> dataset_{*this, "dataset", "the dataset that is used", [this](const auto& m) { tell(*m); },
                              listening("dataset")};
  Input<Prediction> predictions_{*this, "predictions", "predictions of the model", [this](const auto& m) { tell(*m); },
                                 listening("/predictions")};
  Input<Histograms> histograms_{*this, "histograms", "histograms of tensors", [this](const auto& m) { tell(*m); },
                                listening("/histograms")};
  Input<Confusion> confusion_{*this, "confusion", "which classes were mistaken for which",
                              [this](const auto& m) { tell(*m); }, listening("/confusion")};
  Input<SampleResults> samples_{*this, "samples", "samples with their predictions", [this](const auto& m) { tell(*m); },
                                listening("/samples")};
  Input<CheckpointDone> checkpoints_{*this, "checkpoints", "what was saved", [this](const auto& m) { tell(*m); },
                                     listening("/checkpoints")};
  Input<LogRecord> log_{*this, "log", "log records of all components", [this](const auto& m) { tell(*m); },
                        listening("/log")};

  std::vector<std::unique_ptr<Sink>> sinks_;
  std::unique_ptr<Display> display_;
  std::chrono::steady_clock::time_point last_flush_{};
  bool files_dirty_ = false;
  bool timer_armed_ = false;
  core::EventLoop::TimerId timer_{};
};

}  // namespace trainyard
