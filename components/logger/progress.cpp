// SPDX-License-Identifier: Apache-2.0
#include "components/logger/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "components/logger/ansi.h"
#include "components/logger/number_text.h"
#include "messages/printable.h"

namespace trainyard {

// The live line looks like this:
//
//     840/2000  42%  loss 2.10340  lr 1.00e-03  4.1k tokens/s  eta 00:45  val 1.90210

namespace {

/// A part of the live line. If the line is too long, the parts with the largest `importance` are left out first. A part
/// with 0 is never left out.
struct Part {
  std::string text;
  int importance;
  const char* colour = ansi::kPlain;
};

bool is_learning_rate(const std::string& name) { return name == "lr" || name == "learning_rate"; }

/// Returns the first value for whose name `matches` returns true.
std::optional<double> find(const Metrics& metrics, auto matches) {
  const auto found =
      std::find_if(metrics.values.begin(), metrics.values.end(), [&](const Scalar& s) { return matches(s.name); });
  if (found == metrics.values.end()) return {};
  return found->value;
}

bool is_loss(const std::string& name) { return name == "loss"; }

bool is_throughput(const std::string& name) { return name == "throughput"; }

/// Returns the number of characters of the line, with two spaces between the parts. All parts are ASCII.
std::size_t width_of(const std::vector<Part>& parts) {
  std::size_t width = 0;
  for (const Part& part : parts) width += part.text.size() + (width > 0 ? 2 : 0);
  return width;
}

/// Leaves out parts until the line fits. The step is never left out, but truncated if it is too long.
void drop_until_fits(std::vector<Part>& parts, std::size_t width) {
  std::erase_if(parts, [](const Part& part) { return part.text.empty(); });
  while (parts.size() > 1 && width_of(parts) > width) {
    parts.erase(std::max_element(parts.begin(), parts.end(),
                                 [](const Part& a, const Part& b) { return a.importance < b.importance; }));
  }
  if (!parts.empty()) parts.front().text.resize(std::min(parts.front().text.size(), width));
}

/// Returns a progress bar that fills the remaining `room` characters, or an empty text if there is too little room.
std::string bar(double fraction, std::size_t room) {
  // A shorter bar would show nothing useful.
  if (room < 14) return "";
  const std::size_t inner = std::min<std::size_t>(room - 4, 30);
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(inner));
  return "[" + std::string(filled, '=') + std::string(inner - filled, ' ') + "]";
}

/// Returns the text for one value. It is empty for the throughput, which is shown at the end of the line with its unit.
std::string value_text(const Scalar& scalar) {
  if (is_throughput(scalar.name)) return "";
  if (is_learning_rate(scalar.name)) return "  lr " + scientific(scalar.value);
  return "  " + printable(scalar.name) + " " + significant(scalar.value);
}

}  // namespace

void Progress::update(const Metrics& metrics) {
  if (metrics.stage == "validate") {
    if (const auto loss = find(metrics, is_loss)) validation_loss_ = loss;
    return;
  }
  if (const auto rate = find(metrics, is_learning_rate)) learning_rate_ = rate;
  if (metrics.stage != "train") return;
  if (const auto loss = find(metrics, is_loss)) loss_ = loss;
  throughput_ = find(metrics, is_throughput);
  step_ = metrics.step;
  total_ = metrics.total_steps;
  if (!metrics.unit.empty()) unit_ = printable(metrics.unit);
  steps_.add(metrics.time_ns, metrics.step);
  // Uses the time in the message, so that the rate does not depend on when the message is handled.
  units_.add(metrics.time_ns, metrics.units != 0 ? metrics.units : metrics.samples);
}

std::string Progress::step_text() const {
  return total_ == 0 ? fmt::format("{}", step_) : fmt::format("{}/{}", step_, total_);
}

std::string Progress::rate_text() const {
  const auto rate = throughput_ ? throughput_ : units_.per_second();
  return rate && *rate > 0 ? fmt::format("{} {}s/s", compact(*rate), unit_) : "";
}

std::string Progress::eta_text() const {
  const auto rate = steps_.per_second();
  if (total_ < step_ || total_ == 0 || !rate || *rate <= 0) return "";
  return "eta " + clock_text(static_cast<double>(total_ - step_) / *rate);
}

std::string Progress::live_line(std::size_t width, bool colour) const {
  // The parts are in the order of the line. The number is Part::importance.
  const double fraction = total_ == 0 ? 0 : std::min(1.0, static_cast<double>(step_) / static_cast<double>(total_));
  std::vector<Part> parts = {
      {(total_ == 0 ? "step " : "") + step_text(), 0, ansi::kBold},
      {total_ == 0 ? "" : fmt::format("{:.0f}%", fraction * 100), 4},
      {loss_ ? "loss " + significant(*loss_) : "", 1, ansi::kCyan},
      {learning_rate_ ? "lr " + scientific(*learning_rate_) : "", 6},
      {rate_text(), 5},
      {eta_text(), 2},
      {validation_loss_ ? "val " + significant(*validation_loss_) : "", 3, ansi::kCyan},
  };
  drop_until_fits(parts, width);
  const std::string drawn_bar = total_ == 0 ? "" : bar(fraction, width - std::min(width, width_of(parts)));
  std::string line = drawn_bar;
  for (const Part& part : parts) {
    if (!line.empty()) line += "  ";
    const bool coloured = colour && part.colour != ansi::kPlain;
    line += coloured ? part.colour + part.text + ansi::kReset : part.text;
  }
  return line;
}

std::string Progress::plain_line(const Metrics& metrics) const {
  const bool train = metrics.stage == "train";
  std::string line = train ? "" : printable(metrics.stage) + "  ";
  line += metrics.total_steps == 0 ? fmt::format("step {}", metrics.step)
                                   : fmt::format("step {}/{}", metrics.step, metrics.total_steps);
  for (const Scalar& scalar : metrics.values) line += value_text(scalar);
  if (!train) return line;
  for (const std::string& part : {rate_text(), eta_text()}) {
    if (!part.empty()) line += "  " + part;
  }
  return line;
}

}  // namespace trainyard
