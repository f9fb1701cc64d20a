// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/interrupts.h"
#include "tools/trainyard/quantity_text.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/tensor_bytes.h"
#include "tools/trainyard/topic_statistics.h"
#include "tools/trainyard/topic_verbs.h"
#include "visitors/watch.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using CellTexts = std::vector<std::string>;

std::int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// What `topic hz`, `bw` or `delay` shows about the newest messages. Both functions return an empty result if there are
/// too few messages.
struct Meter {
  const char* verb;
  const char* help;
  CellTexts heading;
  CellTexts (*cells)(const TopicWindow& window, std::int64_t since_ns);
  json (*values)(const TopicWindow& window, std::int64_t since_ns);
  const char* needs;  ///< Says how many messages are needed, for error messages.
};

CellTexts rate_cells(const TopicWindow& window, std::int64_t) {
  const std::optional<Rate> rate = rate_of(window.records());
  if (!rate) return {};
  const Spread& interval = rate->interval_s;
  return {hertz_text(rate->hz), seconds_text(interval.mean), seconds_text(interval.min), seconds_text(interval.max),
          seconds_text(interval.deviation)};
}

json rate_values(const TopicWindow& window, std::int64_t) {
  const std::optional<Rate> rate = rate_of(window.records());
  if (!rate) return {};
  const Spread& interval = rate->interval_s;
  return {{"rate_hz", rate->hz},
          {"interval_mean_s", interval.mean},
          {"interval_min_s", interval.min},
          {"interval_max_s", interval.max},
          {"interval_std_s", interval.deviation}};
}

CellTexts bandwidth_cells(const TopicWindow& window, std::int64_t) {
  const std::optional<Bandwidth> bandwidth = bandwidth_of(window.records());
  if (!bandwidth) return {};
  const Spread& size = bandwidth->message_bytes;
  return {hertz_text(bandwidth->hz), bytes_text(bandwidth->body_bytes_per_s) + "/s",
          bytes_text(bandwidth->tensor_bytes_per_s) + "/s", bytes_text(size.mean), bytes_text(size.max)};
}

json bandwidth_values(const TopicWindow& window, std::int64_t) {
  const std::optional<Bandwidth> bandwidth = bandwidth_of(window.records());
  if (!bandwidth) return {};
  const Spread& size = bandwidth->message_bytes;
  return {{"rate_hz", bandwidth->hz},
          {"body_bytes_per_s", bandwidth->body_bytes_per_s},
          {"tensor_bytes_per_s", bandwidth->tensor_bytes_per_s},
          {"message_mean_bytes", size.mean},
          {"message_min_bytes", size.min},
          {"message_max_bytes", size.max}};
}

CellTexts delay_cells(const TopicWindow& window, std::int64_t since_ns) {
  const std::optional<Delay> delay = delay_of(window.records(), since_ns);
  if (!delay) return {};
  return {seconds_text(delay->mean), seconds_text(delay->min), seconds_text(delay->p50), seconds_text(delay->p99),
          seconds_text(delay->max)};
}

json delay_values(const TopicWindow& window, std::int64_t since_ns) {
  const std::optional<Delay> delay = delay_of(window.records(), since_ns);
  if (!delay) return {};
  return {{"delay_mean_s", delay->mean},
          {"delay_min_s", delay->min},
          {"delay_p50_s", delay->p50},
          {"delay_p99_s", delay->p99},
          {"delay_max_s", delay->max}};
}

const Meter kMeters[] = {
    {"hz",
     "Measure how often messages are sent",
     {"rate", "interval", "min", "max", "std"},
     rate_cells,
     rate_values,
     "a rate needs two"},
    {"bw",
     "Measure how many bytes are sent",
     {"rate", "bodies", "tensors", "message", "max"},
     bandwidth_cells,
     bandwidth_values,
     "a rate needs two"},
    {"delay",
     "Measure how long messages are under way",
     {"mean", "min", "p50", "p99", "max"},
     delay_cells,
     delay_values,
     "one that is sent meanwhile is needed"},
};

struct MeterArguments {
  RunChoice run;
  std::string topic;
  std::uint64_t count = 0;
  std::size_t window = 1000;
  double timeout_s = kLongestTimeout;
  double every_s = 1;
  bool as_json = false;
};

/// Prints the results of a measurement. Each line is flushed immediately, for programs that read the output from a
/// pipe.
class Report {
 public:
  Report(const MeterArguments& arguments, const Meter& meter, std::string topic)
      : arguments_(arguments), meter_(meter), topic_(std::move(topic)) {}

  void show(const TopicWindow& window) {
    if (arguments_.as_json) return print(values(window).dump());
    if (!std::exchange(has_heading_, true)) show_heading();
    const CellTexts cells = meter_.cells(window, since_ns_);
    if (window.messages() == shown_ || cells.empty()) {
      print(window.messages() == shown_ ? "no new messages" : "not enough messages yet");
    } else {
      print(row(cells, std::to_string(window.records().size()), std::to_string(window.missed())));
    }
    shown_ = window.messages();
  }

  void summarise(const TopicWindow& window) {
    if (arguments_.as_json) {
      json all = values(window);
      all["summary"] = true;
      return print(all.dump());
    }
    const CellTexts cells = meter_.cells(window, since_ns_);
    if (!cells.empty()) {
      if (!std::exchange(has_heading_, true)) show_heading();
      print(row(cells, std::to_string(window.records().size()), std::to_string(window.missed())));
    }
    print(
        fmt::format("{}: {} messages in {:.1f} s, {} missed", topic_, window.messages(), elapsed_s(), window.missed()));
  }

  /// Returns true if the window contains enough messages for a result.
  bool has_result(const TopicWindow& window) const { return !meter_.cells(window, since_ns_).empty(); }

 private:
  json values(const TopicWindow& window) const {
    json all = {{"topic", topic_},
                {"time_s", elapsed_s()},
                {"messages", window.messages()},
                {"missed", window.missed()},
                {"window", window.records().size()}};
    const json measured = meter_.values(window, since_ns_);
    if (measured.is_object()) all.update(measured);
    return all;
  }

  void show_heading() const {
    const std::string heading = row(meter_.heading, "window", "missed");
    print(use_colours() ? "\033[1m" + heading + "\033[0m" : heading);
  }

  /// Returns a line of the table. The columns are wide enough for all numbers, so that lines printed at different times
  /// are aligned, and together they fit into 80 characters.
  static std::string row(const CellTexts& cells, const std::string& window, const std::string& missed) {
    std::string line;
    for (const std::string& cell : cells) line += fmt::format("{:>12}", cell);
    return line + fmt::format("{:>8}{:>9}", window, missed);
  }

  static void print(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const MeterArguments& arguments_;
  const Meter& meter_;
  std::string topic_;
  Clock::time_point begin_ = Clock::now();
  std::int64_t since_ns_ = now_ns();
  std::uint64_t shown_ = 0;
  bool has_heading_ = false;
};

MessageRecord record_of(const visitors::Received& message) {
  return {.source = {std::hash<std::string>()(*message.endpoint), message.header.source},
          .sequence = message.header.sequence,
          .sent_ns = message.header.send_time_ns,
          .arrived_ns = message.arrival_time_ns,
          .body_bytes = message.body.size(),
          .tensor_bytes = tensor_bytes(message.stream->schema, message.bytes())};
}

/// The reason why a measurement has ended.
enum class End { kInterrupted, kRunEnded, kAsRequested };

/// Measures until the run ends, the user presses Ctrl-C, or the number of messages or the duration in the arguments is
/// reached.
End measure(const MeterArguments& arguments, const Interrupts& interrupts, visitors::Watch& watch, TopicWindow& window,
            Report& report) {
  using Seconds = std::chrono::duration<double>;
  const auto begin = Clock::now();
  const auto every = std::chrono::duration_cast<Clock::duration>(Seconds(arguments.every_s));
  const auto until = begin + std::chrono::duration_cast<Clock::duration>(Seconds(arguments.timeout_s));
  auto next_row = begin + every;
  while (arguments.count == 0 || window.messages() < arguments.count) {
    const auto now = Clock::now();
    if (interrupts.came()) return End::kInterrupted;
    if (now >= until) break;
    if (now >= next_row) {
      report.show(window);
      while (next_row <= now) next_row += every;
    }
    // This is short enough that the command seems to react to Ctrl-C immediately.
    constexpr Clock::duration kSlice = std::chrono::milliseconds(50);
    const auto left = std::min({kSlice, next_row - now, until - now});
    if (const auto message = watch.next(std::chrono::ceil<std::chrono::milliseconds>(left))) {
      window.add(record_of(*message));
    } else if (watch.ended()) {
      return End::kRunEnded;
    }
  }
  return End::kAsRequested;
}

int run_meter(const MeterArguments& arguments, const Meter& meter) {
  const Interrupts interrupts;
  zmq::context_t context;
  visitors::Watch watch(context, find_run(arguments.run), {arguments.topic});
  if (watch.streams().size() != 1) {
    throw Error(Code::kInvalidArgument, "'{}' matches {} topics; one can be measured", arguments.topic,
                watch.streams().size());
  }
  const std::string& topic = watch.streams().front().topic;
  Report report(arguments, meter, topic);
  TopicWindow window(arguments.window);
  const End end = measure(arguments, interrupts, watch, window, report);
  report.summarise(window);
  if (end == End::kInterrupted) return kExitInterrupted;
  if (report.has_result(window)) return kExitOk;
  throw Error(
      end == End::kRunEnded ? Code::kNotFound : Code::kTimeout, "{} message(s) on '{}' {}; {}", window.messages(),
      topic,
      end == End::kRunEnded ? std::string("before the run ended") : fmt::format("within {} s", arguments.timeout_s),
      meter.needs);
}

constexpr const char* kMeterFooter =
    "Each second, one line describes the newest messages (--window). Messages that\n"
    "were dropped on the way to this command are `missed`; they count as well,\n"
    "because every message has a number. The last line is a summary.";

}  // namespace

void add_topic_meters(CLI::App& family, Action& chosen) {
  for (const Meter& meter : kMeters) {
    const auto arguments = std::make_shared<MeterArguments>();
    CLI::App* verb = family.add_subcommand(meter.verb, meter.help);
    verb->footer(kMeterFooter);
    verb->add_option("TOPIC", arguments->topic, "as `trainyard topic list` names it")->required();
    arguments->run.add_to(*verb);
    verb->add_option("--window", arguments->window, "how many messages the statistics cover (1000)")
        ->check(CLI::Range(std::size_t{2}, std::size_t{1'000'000}));
    verb->add_option("--every", arguments->every_s, "seconds between two lines (1)")
        ->check(CLI::Range(0.001, kLongestTimeout));
    verb->add_option("--count", arguments->count, "stop after this many messages");
    verb->add_option("--timeout", arguments->timeout_s, "stop after this many seconds (default: when the run ends)")
        ->check(CLI::Range(0.001, kLongestTimeout));
    verb->add_flag("--json", arguments->as_json, "print each line as JSON");
    verb->callback([=, &chosen, &meter] { chosen = [=, &meter] { return run_meter(*arguments, meter); }; });
  }
}

}  // namespace trainyard::tools
