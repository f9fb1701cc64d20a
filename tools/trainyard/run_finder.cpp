// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/run_finder.h"

#include <CLI/CLI.hpp>

namespace trainyard::tools {

void RunChoice::add_to(CLI::App& verb) {
  verb.add_option("--run", name, "name of the launch (the newest), or KEY@tcp://HOST:PORT")->type_name("NAME");
}

}  // namespace trainyard::tools
