// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard::testing {

/// The path of Debian's Python, whose packages compute the results that tests expect. Another Python on the PATH
/// may lack these packages.
inline constexpr const char* kPython = "/usr/bin/python3";

/// Returns true if this Python exists and can import `modules`, such as "numpy, PIL.Image". A test that needs the
/// modules should be skipped if this returns false.
inline bool python_has(const std::string& modules) {
  const std::string command = std::string(kPython) + " -c 'import " + modules + "' >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

/// Returns what `script` prints when it runs with `argument` as sys.argv[1]. If the script fails, throws kInternal with
/// its output.
inline std::string python(const std::string& script, const std::string& argument) {
  // The script is a file, since TorchScript looks up the source lines of what it compiles.
  const TemporaryFolder folder;
  const std::string file = folder.write("script.py", script);
  const std::string command = std::string(kPython) + " -W ignore '" + file + "' '" + argument + "' 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  for (int letter = pipe == nullptr ? EOF : std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) {
    output += static_cast<char>(letter);
  }
  if (pipe == nullptr || ::pclose(pipe) != 0) throw Error(Code::kInternal, "the script of the test failed: {}", output);
  return output;
}

}  // namespace trainyard::testing
