// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace trainyard::viewer {

/// The names of a run, and where it comes from.
struct Identity {
  /// The full name, such as "mnist-9ix"; a path if the name is unknown, or is already in use by another run.
  std::string run;
  std::string name;       ///< The name without the suffix.
  std::string file;       ///< The launch file.
  std::string directory;  ///< The output directory; for a recording, the path of its first file.
  std::string source;     ///< Where the data comes from: "live", "past" or "recording".
  std::int64_t started_ns = 0;
};

}  // namespace trainyard::viewer
