// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/run_record.h"

namespace trainyard::tools {

/// By default, runs write their output directories to this folder, and the commands search for past runs in it.
inline constexpr const char* kRunsFolder = "runs";

/// Returns the runs in all of `folders`, sorted by name within each folder. If there are several folders, each run is
/// named by its path, because the name alone could be ambiguous. Throws kNotFound if a folder does not exist.
std::vector<archive::RunRecord> find_past_runs(const std::vector<std::string>& folders);

/// Returns the run that `word` refers to. `word` is one of three things: the path of an output directory; the path of a
/// run relative to `folder`, such as "mnist"; or the full name of a launch, such as "mnist-9ix". Throws kNotFound if
/// there is no such run; the error message suggests the most similar name.
archive::RunRecord find_past_run(const std::string& word, const std::string& folder = kRunsFolder);

/// Returns the current time, in nanoseconds since 1970.
std::int64_t now_ns();

/// Returns a time, in nanoseconds since 1970, as text in the local time zone, such as "2026-05-31 12:00:00"; "-" for 0.
std::string time_text(std::int64_t time_ns);

/// Returns a duration as text: "12.3 s" if it is shorter than a minute, otherwise in a form such as "03:12", "1:03:12"
/// or "2d 01:03"; "-" for 0.
std::string duration_text(std::int64_t duration_ns);

/// Returns a value with six significant digits, such as "0.123457".
std::string value_text(double value);

}  // namespace trainyard::tools
