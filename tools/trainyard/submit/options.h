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

/// The options of `trainyard submit` in the form in which the user has given them. Options that were not given are
/// empty.
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

  /// Declares the options on `verb`. The parser writes their values into this object, which must therefore outlive the
  /// parser.
  void add_to(CLI::App& verb);

  /// Throws kInvalidArgument if an option does not apply to the engine, or if an option that the engine requires is
  /// missing. The error message names the engines to which the option applies.
  void check_engine() const;

  /// Returns how many times the engine may restart the job: the value of the option --restarts, or its default. Always
  /// returns 0 for mpirun, which cannot restart a job.
  std::uint32_t restarts_or_default() const;

  /// Checks the values and writes them into `job`, which comes from plan_job(). Throws kInvalidArgument, with the
  /// option, its value and what is allowed, if a value is not valid. Throws the errors of launch::read_host_key() if
  /// the key file cannot be used.
  void complete(Job& job) const;
};

}  // namespace trainyard::tools::submit
