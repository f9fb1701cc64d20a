// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "recordings/mcap_reader.h"
#include "visitors/run_info.h"

namespace CLI {
class App;
}

namespace trainyard::tools {

/// The source of the spans for `trace` and `profile`. It is the argument [RUN]: a running launch, or a recording of
/// spans.
struct SpansChoice {
  std::string run;
  double timeout_s = 30;
  bool as_json = false;

  /// Declares the argument and the options that both verbs have. This object must outlive the parser.
  void add_to(CLI::App& verb);
  /// Returns the recording that `run` names, or nothing if it names a launch. Throws the errors of McapReader.
  std::optional<recordings::McapReader> recording() const;
};

}  // namespace trainyard::tools
