// SPDX-License-Identifier: Apache-2.0
#include "launch/run/process_program.h"

#include <unistd.h>

#include <filesystem>

#include "messages/error.h"

namespace trainyard::launch {

namespace fs = std::filesystem;

std::string find_process_program() {
  // The program is searched for relative to the running program and not in PATH, because both must belong to the same
  // installation.
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path installed = folder.parent_path() / "libexec" / "trainyard" / "trainyard-process";
  const fs::path built = folder / "trainyard-process";
  for (const fs::path& candidate : {installed, built}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw Error(Code::kNotFound, "no trainyard-process: neither {} nor {} is there; is the installation complete?",
              installed.string(), built.string());
}

}  // namespace trainyard::launch
