// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// The facts about this process that an environment may use. An environment receives them instead of examining the
/// process itself, so that a test can simulate any engine (a program that starts processes on the hosts of a job, such
/// as Slurm).
struct ProcessFacts {
  using Variables = std::map<std::string, std::string, std::less<>>;

  Variables variables;                 ///< The environment variables.
  std::string host_name;               ///< The name of the host, as gethostname() returns it.
  std::vector<std::string> addresses;  ///< The addresses of this host's network interfaces, without loopback.
  /// The names of the ancestors of this process, its parent first. The names come from the kernel and are at most 15
  /// characters long. In a container, the list ends with the outermost process of the container.
  std::vector<std::string> ancestors;
  /// Returns the content of a file, or an empty optional if the file cannot be read or is larger than 1 MiB.
  std::function<std::optional<std::string>(const std::string& path)> read_file;
};

namespace environments {

/// Returns the facts about this process.
ProcessFacts facts_of_this_process();

}  // namespace environments
}  // namespace trainyard
