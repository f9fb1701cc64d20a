// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/trainyard/submit/job.h"

namespace CLI {
class App;
}

namespace trainyard::tools::submit {

/// The options of `trainyard submit` as the user has given them. An option that was not given is empty.
struct Options {
  std::string engine;
  bool dry_run = false;
  std::optional<std::string> name;
  std::optional<std::string> time;
  std::optional<std::string> notice;
  std::optional<std::uint32_t> restarts;
  std::optional<std::uint32_t> cpus;
  std::optional<std::string> memory;
  std::optional<std::string> queue;
  std::optional<std::string> logs;
  std::optional<std::string> key;
  std::optional<std::string> image;
  std::optional<std::string> name_space;
  std::optional<std::string> runtime;
  std::optional<std::string> device_resource;
  std::vector<std::string> volumes;
  std::vector<std::string> hosts;
  std::vector<std::string> options;

  /// Declares the options. They are filled in when the command line is parsed, so this object must outlive the parser.
  void add_to(CLI::App& verb);

  /// Throws kInvalidArgument for an option that has no meaning for the engine, and for one that the engine needs and
  /// that is missing. The error names the engines that have the option.
  void check_engine() const;

  /// Returns how often the engine may start the job again.
  std::uint32_t restarts_or_default() const;

  /// Writes the values into the job, after checking them. Throws kInvalidArgument with the option, its value and what
  /// is allowed, and the errors of launch::read_host_key() for a key that the hosts could not use either.
  void complete(Job& job) const;
};

}  // namespace trainyard::tools::submit
