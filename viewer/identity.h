// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace trainyard::viewer {

/// The names of a run, and where it comes from.
struct Identity {
  std::string run;        ///< The full name, such as "mnist-9ix", or the folder of a past run.
  std::string name;       ///< The name without the suffix.
  std::string file;       ///< The launch file.
  std::string directory;  ///< The output directory.
  std::string source;     ///< Where the data comes from: "live", "past" or "recording".
  std::int64_t started_ns = 0;
};

}  // namespace trainyard::viewer
