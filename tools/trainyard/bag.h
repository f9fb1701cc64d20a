// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/trainyard/run_finder.h"

namespace trainyard::tools {

// The actions of the verbs `bag ...`. Each returns the exit code.

/// The arguments of the verbs `bag ...`. Only one of them runs, so they share this.
struct BagArguments {
  RunChoice run;
  std::string path;                 ///< The recording.
  std::string output;               ///< What is written: a file or a folder.
  std::vector<std::string> topics;  ///< Names or patterns; empty: all.
  std::vector<std::string> exclude;
  std::string payloads = "none";
  std::uint64_t max_payload_bytes = 16 << 20;
  std::uint64_t max_bytes = 1 << 30;
  std::uint64_t max_files = 8;
  std::string format = "jsonl";
  std::string perfetto;  ///< The file for Perfetto; empty: none.
  double rate = 1;
  double start_s = 0;
  bool loop = false;
  bool wait = false;
  bool as_json = false;
};

/// Records a running launch until it ends or the user presses Ctrl-C. Returns kExitFailed if anything was missed.
int bag_record(const BagArguments& arguments);
/// Shows what a recording contains.
int bag_info(const BagArguments& arguments);
/// Reads every byte of a recording and compares the checksums and the index with the content.
int bag_verify(const BagArguments& arguments);
/// Writes what is whole in a recording to a new file.
int bag_repair(const BagArguments& arguments);
/// Writes the messages as JSON lines or as CSV tables.
int bag_convert(const BagArguments& arguments);
/// Publishes the messages of a recording as if the run were under way.
int bag_play(const BagArguments& arguments);

/// Returns a number of bytes for people, such as "4.2 MiB".
std::string text_of_bytes(std::uint64_t bytes);
/// Returns true if `topic` matches one of the patterns, whose leading slash may be missing, or if there are none.
bool matches_any(const std::vector<std::string>& patterns, const std::string& topic);

}  // namespace trainyard::tools
