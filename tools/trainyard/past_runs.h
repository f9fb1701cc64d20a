// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/run_record.h"

namespace trainyard::tools {

/// The folder in which runs are looked for if none is given. It contains the output directories that launch files
/// choose by default.
inline constexpr const char* kRunsFolder = "runs";

/// Returns the runs in all these folders, sorted by name within each. Throws kNotFound for a folder that does not
/// exist.
std::vector<archive::RunRecord> find_past_runs(const std::vector<std::string>& folders);

/// Returns the run that `word` names: the path of an output directory, a name below `folder` such as "mnist", or the
/// full name of a launch such as "mnist-9ix". Throws kNotFound with the nearest name.
archive::RunRecord find_past_run(const std::string& word, const std::string& folder = kRunsFolder);

/// Returns the time now, in nanoseconds since 1970.
std::int64_t now_ns();

/// Returns a local time as text: "2026-05-31 12:00:00"; "-" for 0.
std::string time_text(std::int64_t time_ns);

/// Returns a duration as text: "12.3 s" below a minute, "03:12", "1:03:12", "2d 01:03"; "-" for 0.
std::string duration_text(std::int64_t duration_ns);

/// Returns a value with six significant digits: "0.123457".
std::string value_text(double value);

}  // namespace trainyard::tools
