// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "launch/file/value.h"

namespace trainyard::launch {

/// Replaces `${name}` (an argument), `${env:NAME}` and `${file_dir}` (the folder of the file in which it stands) in
/// every string of a value; `$$` becomes a dollar. A string that is nothing but `${name}` takes the type of the
/// argument.
///
/// The work is bounded: an argument's default may name other arguments, up to 16 deep, and a string may grow to 64 KiB.
class Substitution {
 public:
  Substitution() = default;
  /// Arguments may hold `${...}` themselves, unless they come from the command line, because a shell has its own
  /// substitution.
  explicit Substitution(std::map<std::string, Value> arguments) : arguments_(std::move(arguments)) {}

  /// `key` is the path of `value`, for errors.
  Value resolve(const Value& value, const std::string& key) const;

 private:
  struct Place;  // The current place in the file, for errors and file_dir.

  Value resolve(const Value& value, const Place& place) const;
  Value resolve_text(const std::string& text, const Place& place) const;
  Value lookup(std::string_view name, const Place& place) const;
  std::vector<std::string> known_names() const;

  std::map<std::string, Value> arguments_;
};

}  // namespace trainyard::launch
