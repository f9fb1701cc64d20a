// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "messages/printable.h"
#include "recordings/run_recording.h"
#include "tools/trainyard/bag.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/interrupts.h"

namespace trainyard::tools {
namespace {

using recordings::Counts;
using recordings::RunRecording;

/// Returns the options for the recording. The default file for the run "run-9ix" is "run-9ix.mcap", or "run-9ix_2.mcap"
/// if that exists, and so on, because a recording is never overwritten.
recordings::RunRecordingOptions options_of(const BagArguments& arguments, const visitors::RunInfo& run) {
  const bool named = !arguments.output.empty();
  return {.topics = arguments.topics,
          .exclude = arguments.exclude,
          .payloads = arguments.payloads == "inline",
          .files = {.path = named ? arguments.output : run.run + ".mcap",
                    .number_existing = !named,
                    .max_bytes = arguments.max_bytes,
                    .max_files = arguments.max_files,
                    .max_payload_bytes = arguments.max_payload_bytes}};
}

void print_result(const RunRecording& recording) {
  const recordings::Recorder& recorder = recording.recorder();
  const Counts& counts = recorder.counts();
  fmt::print("{}: {} message(s) of {} topic(s), {}", printable_line(recorder.path()), counts.arrived(),
             counts.topics.size(), text_of_bytes(recorder.bytes()));
  if (recorder.files() > 1) fmt::print(" in {} files", recorder.files());
  fmt::print("\n");
  if (counts.complete()) return;
  std::fflush(stdout);
  fmt::print(stderr, "trainyard: INCOMPLETE: {} message(s) were missed{}{}\n", counts.missed(),
             counts.cut_short.empty() ? "" : "; ", counts.cut_short);
}

}  // namespace

int bag_record(const BagArguments& arguments) {
  const Interrupts interrupts;
  const visitors::RunInfo run = find_run(arguments.run);
  zmq::context_t sockets;
  RunRecording recording(sockets, run, options_of(arguments, run));
  fmt::print(stderr, "recording {} in {}; Ctrl-C ends the recording, not the run\n", printable_line(run.run),
             printable_line(recording.recorder().path()));
  bool interrupted = false;
  while (!recording.ended() && !(interrupted = interrupts.came())) recording.record_for(std::chrono::milliseconds(100));
  recording.finish(interrupted ? "the recorder was interrupted by its user" : "");
  print_result(recording);
  return recording.recorder().counts().complete() ? kExitOk : kExitFailed;
}

}  // namespace trainyard::tools
