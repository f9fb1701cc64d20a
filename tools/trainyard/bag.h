// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/trainyard/run_finder.h"

namespace trainyard::tools {

// The actions of `trainyard bag record`, `info` and so on. Each function returns the exit code of the command.

/// The arguments of all subcommands of `trainyard bag`. Only one subcommand runs at a time, so they share one struct.
struct BagArguments {
  RunChoice run;
  std::string path;                  ///< The path of the recording.
  std::string output;                ///< The file or folder to which the subcommand writes.
  std::vector<std::string> topics;   ///< Names or patterns of topics; empty for all topics.
  std::vector<std::string> exclude;  ///< Names or patterns of topics that `bag record` leaves out.
  std::string payloads = "none";     ///< "inline" to record the bytes of tensors, too.
  std::uint64_t max_payload_bytes = 16 << 20;
  std::uint64_t max_bytes = 1 << 30;
  std::uint64_t max_files = 8;
  std::string format = "jsonl";
  /// The path of a new file for Perfetto. If it is not empty, `bag convert` writes only the spans of the recording, to
  /// this file.
  std::string perfetto;
  double rate = 1;
  double start_s = 0;
  bool loop = false;
  bool wait = false;
  bool as_json = false;
};

/// Records the messages of a running launch until the launch ends or the user presses Ctrl-C. Returns kExitFailed if
/// messages were missed.
int bag_record(const BagArguments& arguments);
/// Shows a summary of what a recording contains.
int bag_info(const BagArguments& arguments);
/// Reads every byte of a recording, and compares the checksums and the index with the content. Returns kExitFailed if
/// anything is damaged.
int bag_verify(const BagArguments& arguments);
/// Copies everything that is undamaged in a recording to a new file.
int bag_repair(const BagArguments& arguments);
/// Writes the messages of a recording as JSON lines or CSV tables, or only its spans as a file for Perfetto.
int bag_convert(const BagArguments& arguments);
/// Publishes the messages of a recording, so that programs can attach as if the recorded run were active.
int bag_play(const BagArguments& arguments);

/// Returns a number of bytes in readable form, such as "4.2 MiB".
std::string text_of_bytes(std::uint64_t bytes);
/// Returns true if `topic` matches one of the patterns, or if there are no patterns. The leading slash of a pattern may
/// be omitted.
bool matches_any(const std::vector<std::string>& patterns, const std::string& topic);

}  // namespace trainyard::tools
