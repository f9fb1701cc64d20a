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

/// A value of a launch file with the place where it was written, so that later errors can name it.
struct Value {
  using List = std::vector<Value>;
  using Table = std::map<std::string, Value>;

  std::variant<bool, std::int64_t, double, std::string, List, Table> data;
  Origin origin;

  /// Returns the value if it is a T, otherwise null. Nothing is converted: 1 is not a double.
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

/// Returns the value without its origins, which is the form in which parameters are sent.
nlohmann::json to_json(const Value& value);

/// Returns the value as JSON text. Throws for text that is not UTF-8, which can come from the command line or the
/// environment.
std::string to_json_text(const Value& value, std::string_view key);

/// Returns the value as it would be written, for error messages: at most 200 bytes of it.
std::string to_text(const Value& value);

/// Returns the error that names a value and what is allowed in its place: `"fast" is not allowed; a number > 0`.
Error not_allowed(const Value& value, std::string_view key, std::string_view allowed);

/// Returns the text "run.seed", or "seed" if `path` is empty.
std::string join_key(std::string_view path, std::string_view key);

}  // namespace trainyard::launch
