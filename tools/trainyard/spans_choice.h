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

/// The source of the spans (records of what components did, and when) that `trace` and `profile` examine. The argument
/// [RUN] specifies it: a running launch, or a recording that contains spans.
struct SpansChoice {
  std::string run;
  double timeout_s = 30;
  bool as_json = false;

  /// Declares the argument and the options that both verbs have. The parser writes their values into this object, which
  /// must therefore outlive the parser.
  void add_to(CLI::App& verb);
  /// Returns the recording that `run` specifies, or an empty optional if `run` names a running launch or is empty (the
  /// newest running launch). Throws what the constructor of McapReader throws.
  std::optional<recordings::McapReader> recording() const;
};

}  // namespace trainyard::tools
