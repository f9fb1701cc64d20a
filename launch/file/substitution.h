// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Replaces references in the strings of a launch file. `${name}` is replaced by the argument `name`, `${env:NAME}` by
/// the environment variable `NAME`, and `${file_dir}` by the folder of the file that contains the string. `$$` becomes
/// a dollar sign. A string that consists only of `${name}` becomes a value of the argument's type.
///
/// An argument's default can refer to other arguments, up to 16 levels deep. A string can grow to 64 KiB. Exceeding a
/// limit is an error.
class Substitution {
 public:
  Substitution() = default;
  /// References in the values of `arguments` are replaced, too. Values from the command line are an exception, because
  /// the shell has its own substitution.
  explicit Substitution(std::map<std::string, Value> arguments) : arguments_(std::move(arguments)) {}

  /// Returns `value` with all references replaced. `key` is the key of the value in the file, for errors. Throws
  /// kInvalidArgument for unknown arguments, for environment variables that are not set, and for a "${" without "}".
  Value resolve(const Value& value, const std::string& key) const;

 private:
  struct Place;  // The current position in the file, for errors and for file_dir.

  Value resolve(const Value& value, const Place& place) const;
  Value resolve_text(const std::string& text, const Place& place) const;
  Value lookup(std::string_view name, const Place& place) const;
  std::vector<std::string> known_names() const;

  std::map<std::string, Value> arguments_;
};

}  // namespace trainyard::launch
