// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "messages/error.h"
#include "messages/printable.h"
#include "timeline/batch_path.h"
#include "timeline/profile.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/json_output.h"
#include "tools/trainyard/recorded_spans.h"
#include "tools/trainyard/span_recording.h"
#include "tools/trainyard/spans_choice.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

using nlohmann::ordered_json;
using timeline::BatchPath;
using timeline::PathLine;
using timeline::StepWindow;
using timeline::Timeline;

struct TraceArguments {
  SpansChoice spans;
  std::uint64_t batch = 0;  ///< The number of the batch; 0 for the next batch.
  std::uint64_t steps = 1;
};

/// The batches to show, and the run to which they belong.
struct Traced {
  std::string run;
  std::vector<BatchPath> paths;
};

double in_milliseconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

/// Returns the steps to show, or an empty optional if there are not enough yet. Steps whose batches were read while
/// spans were already being recorded are preferred, because their paths are complete. The first steps are not, because
/// batches are read ahead. A data loader in another language records no spans for reading, so after a while any steps
/// are accepted.
std::optional<StepWindow> choose_steps(const Timeline& timeline, std::uint64_t steps) {
  constexpr std::size_t kManySteps = 64;
  constexpr std::int64_t kLong = 2'000'000'000;
  for (std::optional<StepWindow> window = timeline::find_steps(timeline, steps, last_step_of_the_beginning(timeline));
       window; window = timeline::find_steps(timeline, steps, window->first)) {
    const std::vector<std::uint64_t> batches = timeline.batches_of(window->first);
    const bool complete = std::ranges::all_of(batches, [&](std::uint64_t trace) { return timeline.was_read(trace); });
    if (complete && !batches.empty()) return window;
  }
  if (timeline.steps().size() < kManySteps + steps) return {};
  const std::int64_t length = timeline.steps().rbegin()->second.end_ns - timeline.steps().begin()->second.end_ns;
  return length < kLong ? std::nullopt : timeline::find_steps(timeline, steps);
}

/// Returns the step that trained on the batch with this number, or 0 if this step has not been recorded yet. Throws
/// kNotFound if the batch was used before recording began.
std::uint64_t step_of_batch(const Timeline& timeline, std::uint64_t batch) {
  for (const auto& [step, event] : timeline.steps()) {
    const std::uint64_t newest = timeline::batch_of(event.trace).batch;
    const auto batches = timeline.batches_of(step);
    const bool has =
        std::ranges::any_of(batches, [batch](std::uint64_t trace) { return timeline::batch_of(trace).batch == batch; });
    if (has) return step;
    if (newest > batch) {
      throw Error(Code::kNotFound, "batch {} is over; the first one whose spans are known is batch {}", batch, newest);
    }
  }
  return 0;
}

std::optional<StepWindow> find(const Timeline& timeline, const TraceArguments& arguments) {
  if (arguments.batch == 0) return choose_steps(timeline, arguments.steps);
  const std::uint64_t step = step_of_batch(timeline, arguments.batch);
  return step == 0 ? std::nullopt : timeline::find_steps(timeline, 1, step - 1);
}

std::string what_is_missing(const TraceArguments& arguments) {
  return arguments.batch == 0 ? fmt::format("{} training steps were traced", arguments.steps)
                              : fmt::format("batch {} was traced", arguments.batch);
}

Traced paths_in(const Timeline& timeline, std::string run, const StepWindow& window, std::uint64_t batch) {
  Traced traced{.run = std::move(run), .paths = {}};
  for (std::uint64_t step = window.first; step <= window.last; ++step) {
    for (const std::uint64_t trace : timeline.batches_of(step)) {
      if (batch == 0 || timeline::batch_of(trace).batch == batch) traced.paths.push_back(path_of(timeline, trace));
    }
  }
  return traced;
}

Traced trace_recording(const recordings::McapReader& reader, const TraceArguments& arguments, Timeline& timeline) {
  read_spans(reader, timeline);
  auto window = find(timeline, arguments);
  if (!window && arguments.batch == 0) window = timeline::find_steps(timeline, arguments.steps);
  if (!window) {
    report_lost(timeline);
    throw Error(Code::kNotFound, "the recording ended before {}", what_is_missing(arguments));
  }
  return paths_in(timeline, run_of(reader), *window, arguments.batch);
}

Traced trace_launch(const TraceArguments& arguments, Timeline& timeline) {
  const visitors::RunInfo run = visitors::find_run(arguments.spans.run);
  SpanRecording recording(run, timeline, /*operations=*/false);
  std::optional<StepWindow> window;
  const auto found = [&] {
    window = find(timeline, arguments);
    // A batch with a given number can still come, however many spans came before it.
    if (!window && arguments.batch == 0) recording.require_all_kept(what_is_missing(arguments));
    return window.has_value();
  };
  recording.collect_until(found, std::chrono::duration<double>(arguments.spans.timeout_s), what_is_missing(arguments));
  recording.collect_rest();
  return paths_in(timeline, run.run, *window, arguments.batch);
}

std::string heading_of(const BatchPath& path, const std::string& run) {
  const auto [rank, batch] = timeline::batch_of(path.trace);
  return fmt::format("{}: batch {} of rank {}, step {}, {:.3f} ms", printable_line(run), batch, rank, path.step,
                     in_milliseconds(path.end_ns - path.begin_ns));
}

void print(const Traced& traced) {
  for (const BatchPath& path : traced.paths) {
    if (&path != traced.paths.data()) std::printf("\n");
    std::printf("%s\n", heading_of(path, traced.run).c_str());
    Table table({"  BEGIN ms", " TAKES ms", "COMPONENT", "WHAT"});
    for (const PathLine& line : path.lines) {
      const std::string own = line.event.own_thread == 0 ? "" : fmt::format(", thread {}", line.event.own_thread);
      table.add({fmt::format("{:>10.3f}", in_milliseconds(line.event.begin_ns - path.begin_ns)),
                 fmt::format("{:>9.3f}", in_milliseconds(line.event.length_ns())), std::string(line.event.component),
                 std::string(2 * line.depth, ' ') + words_for(line.event) + own});
    }
    std::fputs(table.text(use_colours(), terminal_width()).c_str(), stdout);
  }
}

ordered_json json_of(const PathLine& line) {
  const timeline::Event& event = line.event;
  return {{"kind", name_of(event.kind)}, {"component", event.component},   {"process", event.process},
          {"thread", event.thread},      {"own_thread", event.own_thread}, {"name", event.name},
          {"peer", event.peer},          {"what", words_for(event)},       {"depth", line.depth},
          {"begin_ns", event.begin_ns},  {"end_ns", event.end_ns}};
}

void print_as_json(const Traced& traced, const Timeline& timeline) {
  ordered_json batches = ordered_json::array();
  for (const BatchPath& path : traced.paths) {
    ordered_json spans = ordered_json::array();
    for (const PathLine& line : path.lines) spans.push_back(json_of(line));
    const auto [rank, batch] = timeline::batch_of(path.trace);
    batches.push_back({{"batch", batch},
                       {"rank", rank},
                       {"step", path.step},
                       {"begin_ns", path.begin_ns},
                       {"end_ns", path.end_ns},
                       {"spans", std::move(spans)}});
  }
  print_json({{"run", traced.run}, {"lost", timeline.lost()}, {"batches", std::move(batches)}});
}

int trace(const TraceArguments& arguments) {
  Timeline timeline;
  const auto reader = arguments.spans.recording();
  const Traced traced = reader ? trace_recording(*reader, arguments, timeline) : trace_launch(arguments, timeline);
  if (arguments.spans.as_json) {
    print_as_json(traced, timeline);
  } else {
    print(traced);
  }
  std::fflush(stdout);
  report_lost(timeline);
  return kExitOk;
}

}  // namespace

void add_trace(CLI::App& app, Action& chosen) {
  constexpr std::uint64_t kMostSteps = 1000;
  CLI::App* verb = app.add_subcommand("trace", "Show the path of a batch through the components");
  verb->footer(
      "Times are counted from the moment when the batch was read. With several ranks,\n"
      "each rank has its own batch, and the batches are shown one after another.\n\n"
      "Examples:\n  trainyard trace\n  trainyard trace mnist --steps 3\n  trainyard trace --batch 1200 --json");
  const auto arguments = std::make_shared<TraceArguments>();
  arguments->spans.add_to(*verb);
  CLI::Option* batch = verb->add_option("--batch", arguments->batch, "the batch with this number, on every rank")
                           ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 47))
                           ->type_name("N");
  verb->add_option("--steps", arguments->steps, "the batches of this many steps (1)")
      ->check(CLI::Range(std::uint64_t{1}, kMostSteps))
      ->excludes(batch)
      ->type_name("N");
  verb->callback([=, &chosen] { chosen = [=] { return trace(*arguments); }; });
}

}  // namespace trainyard::tools
