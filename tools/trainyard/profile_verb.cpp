// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/json_output.h"
#include "tools/trainyard/profile_text.h"
#include "tools/trainyard/recorded_spans.h"
#include "tools/trainyard/span_recording.h"
#include "tools/trainyard/spans_choice.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

using timeline::StepWindow;
using timeline::Timeline;

struct ProfileArguments {
  SpansChoice spans;
  std::uint64_t steps = 20;
  bool no_operations = false;
  std::string perfetto;
};

/// Records spans until there are `steps` complete steps after the step `after`. The first step that is found may have
/// begun before the recording, so it is not used.
StepWindow record_steps(const ProfileArguments& arguments, const visitors::RunInfo& run, Timeline& timeline,
                        std::uint64_t after, bool operations) {
  SpanRecording recording(run, timeline, operations);
  const std::string what = fmt::format("{} training steps were profiled", arguments.steps);
  std::optional<StepWindow> window;
  const auto enough = [&] {
    const std::uint64_t first = last_step_of_the_beginning(timeline, after);
    if (first != 0) window = timeline::find_steps(timeline, arguments.steps, first);
    if (!window) recording.require_all_kept(what);
    return window.has_value();
  };
  recording.collect_until(enough, std::chrono::duration<double>(arguments.spans.timeout_s), what);
  recording.collect_rest();
  return *window;
}

ProfileReport profile_launch(const ProfileArguments& arguments, Timeline& timeline) {
  const visitors::RunInfo run = visitors::find_run(arguments.spans.run);
  const StepWindow window = record_steps(arguments, run, timeline, 0, /*operations=*/false);
  ProfileReport report{.run = run.run, .time = profile_of(timeline, window), .operations = {}};
  if (arguments.no_operations) return report;
  // Recording operations makes these steps slower, so the shares above are taken from other steps.
  const std::uint64_t after = timeline.steps().empty() ? window.last : timeline.steps().rbegin()->first;
  report.operations = profile_of(timeline, record_steps(arguments, run, timeline, after, /*operations=*/true));
  return report;
}

ProfileReport profile_recording(const recordings::McapReader& reader, const ProfileArguments& arguments,
                                Timeline& timeline) {
  read_spans(reader, timeline);
  // If spans were dropped, the first steps that remain may be incomplete, as at the beginning of a recording.
  const std::uint64_t after = timeline.dropped() == 0 ? 0 : last_step_of_the_beginning(timeline);
  const auto window = timeline::find_steps(timeline, arguments.steps, after);
  if (!window) {
    report_lost(timeline);
    throw Error(Code::kNotFound, "the recording does not contain {} training steps in a row; --steps N asks for fewer",
                arguments.steps);
  }
  ProfileReport report{.run = run_of(reader), .time = profile_of(timeline, *window), .operations = {}};
  if (!report.time.operations.empty()) report.operations = report.time;
  return report;
}

int profile(const ProfileArguments& arguments) {
  if (!arguments.perfetto.empty() && std::filesystem::exists(arguments.perfetto)) {
    throw Error(Code::kInvalidArgument, "the file {} exists; a new file is needed", arguments.perfetto);
  }
  Timeline timeline;
  const auto reader = arguments.spans.recording();
  const ProfileReport report =
      reader ? profile_recording(*reader, arguments, timeline) : profile_launch(arguments, timeline);
  if (!arguments.perfetto.empty()) write_perfetto(timeline, report.run, arguments.perfetto);
  if (arguments.spans.as_json) {
    print_json(json_of(report));
  } else {
    std::fputs(text_of(report, use_colours(), terminal_width()).c_str(), stdout);
  }
  std::fflush(stdout);
  report_lost(timeline);
  return kExitOk;
}

}  // namespace

void add_profile(CLI::App& app, Action& chosen) {
  constexpr std::uint64_t kMostSteps = 100'000;
  CLI::App* verb = app.add_subcommand("profile", "Show how the time of training steps is spent");
  verb->footer(
      "Without --no-operations, twice as many steps are recorded: the second half with\n"
      "the operations of LibTorch, which take longer while they are recorded.\n\n"
      "Examples:\n  trainyard profile\n  trainyard profile mnist --steps 100 --no-operations\n"
      "  trainyard profile --perfetto run.pftrace   # then open it in ui.perfetto.dev");
  const auto arguments = std::make_shared<ProfileArguments>();
  arguments->spans.add_to(*verb);
  verb->add_option("--steps", arguments->steps, "number of training steps (20)")
      ->check(CLI::Range(std::uint64_t{1}, kMostSteps))
      ->type_name("N");
  verb->add_flag("--no-operations", arguments->no_operations, "leave out the operations of LibTorch");
  verb->add_option("--perfetto", arguments->perfetto, "write the spans to a new file for ui.perfetto.dev")
      ->type_name("FILE");
  verb->callback([=, &chosen] { chosen = [=] { return profile(*arguments); }; });
}

}  // namespace trainyard::tools
