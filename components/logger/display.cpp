// SPDX-License-Identifier: Apache-2.0
#include "components/logger/display.h"

#include <fmt/format.h>

#include <utility>

#include "components/logger/ansi.h"
#include "components/logger/number_text.h"
#include "messages/printable.h"

namespace trainyard {
namespace {

/// Returns true if the metrics of this stage are shown as a line even on a terminal with a live line.
bool is_evaluation(const std::string& stage) {
  return stage == "validate" || stage == "test" || stage == "predict" || stage == "train_eval";
}

}  // namespace

// Shows the line of an earlier step first. The new line erases the live line, which must be drawn again.
void Display::line(const std::string& text, const char* colour) {
  show_waiting();
  const bool coloured = console_.colour() && *colour != '\0';
  console_.line(coloured ? colour + text + ansi::kReset : text);
  stale_ = stale_ || progress_.has_steps();
}

// Training steps are shown in the live line if there is one. All other metrics get a line.
void Display::on(const Metrics& metrics) {
  // Needed even without a live line, because ordinary lines contain the rate and the remaining time, too.
  progress_.update(metrics);
  stale_ = true;
  if (is_evaluation(metrics.stage)) {
    line(progress_.plain_line(metrics), ansi::kGreen);
  } else if (mode_ == Mode::kLines) {
    show_step(metrics);
  }
}

// A newer step replaces the line that has not been shown yet. The last step is shown immediately.
void Display::show_step(const Metrics& metrics) {
  waiting_.clear();
  if (interval_ == Clock::duration::zero() || progress_.complete()) return line(progress_.plain_line(metrics));
  waiting_ = progress_.plain_line(metrics);
}

void Display::show_waiting() {
  if (!waiting_.empty()) line(std::exchange(waiting_, ""));
}

void Display::on(const ModelInfo& model) {
  if (model.rank != 0) return;  // All ranks have the same model.
  line(fmt::format("model {}  {} parameters  {}  {}", printable(model.model),
                   compact(static_cast<double>(model.parameters)), printable(model.device),
                   printable(model.precision)));
}

void Display::on(const DatasetInfo& dataset) {
  std::string text = "dataset " + printable(dataset.dataset);
  for (const SplitInfo& split : dataset.splits) {
    text += fmt::format("  {} {}", printable(split.name), compact(static_cast<double>(split.samples)));
  }
  line(text + fmt::format("  batch {}", dataset.batch_size));
}

void Display::on(const Prediction& prediction) {
  const std::string title = prediction.title.empty() ? "prediction" : printable(prediction.title);
  // A prediction may be a text of many lines, so it gets a title. Of tensors, only the type and shape are shown.
  line(fmt::format("--- {}, step {} ---", title, prediction.step), ansi::kBold);
  if (!prediction.text.empty()) line(printable(prediction.text));
  for (const Tensor& tensor : prediction.tensors) {
    line(fmt::format("tensor {} {}", name_of(tensor.dtype), to_text(tensor.shape)));
  }
}

void Display::on(const CheckpointDone& checkpoint) {
  if (!checkpoint.error.empty()) {
    line(fmt::format("checkpoint  step {}  failed: {}", checkpoint.step, printable(checkpoint.error)), ansi::kRed);
    return;
  }
  line(fmt::format("checkpoint  step {}  {}  {}", checkpoint.step, bytes_text(checkpoint.bytes),
                   printable(checkpoint.path)));
}

bool Display::refresh(Clock::time_point now) {
  // Too early; the caller will call again.
  if (now - last_refresh_ < kRedraw) return true;
  last_refresh_ = now;
  if (!waiting_.empty() && now - last_step_line_ >= interval_) {
    last_step_line_ = now;
    show_waiting();
  }
  console_.write_pending();
  if (mode_ == Mode::kLive && stale_ && progress_.has_steps() && !console_.pending()) {
    // One column stays free, because some terminals wrap the line when its last column is used.
    console_.live(progress_.live_line(console_.width() - 1, console_.colour()));
    console_.write_pending();
    stale_ = false;
  }
  return console_.pending() || !waiting_.empty();
}

void Display::finish() {
  // Makes refresh() draw the last state even if the previous drawing was a moment ago.
  last_refresh_ = {};
  show_waiting();
  refresh(Clock::now());
  console_.end_live();
  console_.write_pending(std::chrono::seconds(1));
}

}  // namespace trainyard
