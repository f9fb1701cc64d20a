// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// What an environment may know about the process in which it runs. An environment gets these facts instead of looking
/// at the process itself, so that a test can give it the facts of any engine.
struct ProcessFacts {
  using Variables = std::map<std::string, std::string, std::less<>>;

  Variables variables;                 ///< The environment variables.
  std::string host_name;               ///< What gethostname() returns.
  std::vector<std::string> addresses;  ///< The addresses of this host's network interfaces, without loopback.
  /// The names of the processes that have started this one, the nearest first, as the kernel knows them: at most 15
  /// characters each. They end where a container hides the processes outside.
  std::vector<std::string> ancestors;
  /// Returns the content of a file, or nothing if it cannot be read or has more than 1 MiB.
  std::function<std::optional<std::string>(const std::string& path)> read_file;
};

namespace environments {

/// Returns the facts of this process.
ProcessFacts facts_of_this_process();

}  // namespace environments
}  // namespace trainyard
