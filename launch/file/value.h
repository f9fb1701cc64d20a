// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "launch/file/origin.h"

namespace trainyard::launch {

/// A value of a launch file, with the position at which it was written, so that later errors can name the position.
struct Value {
  using List = std::vector<Value>;
  using Table = std::map<std::string, Value>;

  std::variant<bool, std::int64_t, double, std::string, List, Table> data;
  Origin origin;

  /// Returns a pointer to the value if it is a T, otherwise null. Nothing is converted: the integer 1 is not a double.
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&data);
  }

  /// Returns the value of `key`, or null if this is not a table or has no such key.
  const Value* find(const std::string& key) const;
};

/// Returns the value as JSON, without origins. Plugins receive their parameters in this form.
nlohmann::json to_json(const Value& value);

/// Returns the value as JSON text. Throws kInvalidArgument if it contains text that is not UTF-8, which can come from
/// the command line or the environment; the error message names the value as `key`.
std::string to_json_text(const Value& value, std::string_view key);

/// Returns the value as it would be written in a launch file, shortened to 200 bytes, for error messages.
std::string to_text(const Value& value);

/// Returns the error about a value that is not allowed, such as `"fast" is not allowed; a number > 0`, where `allowed`
/// is the text "a number > 0".
Error not_allowed(const Value& value, std::string_view key, std::string_view allowed);

/// Returns `path` and `key` with a dot between them, such as "run.seed", or only `key` if `path` is empty.
std::string join_key(std::string_view path, std::string_view key);

}  // namespace trainyard::launch
