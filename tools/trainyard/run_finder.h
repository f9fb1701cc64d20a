// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "visitors/run_info.h"

namespace CLI {
class App;
}

namespace trainyard::tools {

/// The option `--run NAME` of every verb that concerns a running launch.
struct RunChoice {
  std::string name;

  /// Declares the option on `verb`. The parser writes its value into this object, which must therefore outlive the
  /// parser.
  void add_to(CLI::App& verb);
};

/// Returns the running launch with the chosen name, or the newest running launch if the name is empty. A name of the
/// form KEY@tcp://HOST:PORT refers to a run on another host. Throws kNotFound if there is none.
inline visitors::RunInfo find_run(const RunChoice& choice) { return visitors::find_run(choice.name); }

}  // namespace trainyard::tools
