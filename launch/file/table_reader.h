// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "launch/file/value.h"
#include "messages/words.h"

namespace trainyard::launch {

/// Returns the table in `value`. Throws if `value` is not a table; the error contains `key`.
const Value::Table& table_of(const Value& value, std::string_view key);

/// Throws unless `name` is valid as the name of a component, process or thread. A valid name starts with a letter or
/// '_', continues with letters, digits, '_' and '-', and is at most 64 bytes long. The error contains `key` and the
/// origin of `value`, the value that contains the name.
void check_name(const Value& value, std::string_view key, const std::string& name);

/// The longest duration that a launch file can contain: one day.
constexpr std::int64_t kMaxMilliseconds = 86'400'000;

/// Reads the values of one table, with one function for each type of value. If a key is missing, the function returns
/// its `fallback`. If the value has another type, the function throws; values are never converted, except that
/// seconds() also accepts an integer. Every error contains the file, the line and the key. The table must outlive the
/// reader.
class TableReader {
 public:
  /// Makes a reader for a table whose keys are fixed. `path` is the key of the table itself. Throws if `value` is not a
  /// table, or if it has a key that is not in `known`; the error suggests the most similar known key.
  TableReader(const Value& value, std::string path, const std::vector<std::string>& known);

  /// Makes a reader for a table whose keys the user chooses. Throws if `value` is not a table.
  TableReader(const Value& value, std::string path);

  /// Returns the value of a key, or null if the key is missing.
  const Value* find(const std::string& name) const { return value_.find(name); }
  bool has(const std::string& name) const { return find(name) != nullptr; }
  /// Returns the full path of a key, such as "component.logger.params", for errors.
  std::string key(std::string_view name) const { return join_key(path_, name); }

  /// Returns a string.
  std::string text(const std::string& name, std::string fallback) const;
  /// Returns a string. Throws if it is not a valid name; see check_name().
  std::string name(const std::string& name, std::string fallback) const;
  /// Returns a string. Throws if it is not in `choices`; the error suggests the most similar choice.
  std::string one_of(const std::string& name, const std::vector<std::string>& choices, std::string fallback) const;
  /// Returns the enumerator that the string names. Throws if no enumerator has this name; the error suggests the most
  /// similar name.
  template <Worded E>
  E word(const std::string& name, E fallback) const {
    const auto& words = kWords<E>.values;
    return from_name<E>(one_of(name, {words.begin(), words.end()}, std::string(name_of(fallback))));
  }
  /// Returns a boolean. The integers 0 and 1 are refused.
  bool flag(const std::string& name, bool fallback) const;
  /// Returns an integer. Throws unless it is at least `minimum` and at most `maximum`.
  std::int64_t integer(const std::string& name, std::int64_t fallback, std::int64_t minimum,
                       std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  /// Returns a duration in seconds. Throws unless it is greater than 0 and at most one day; with `may_be_zero`, 0 is
  /// allowed, too.
  double seconds(const std::string& name, double fallback, bool may_be_zero = false) const;
  /// Returns a list of strings; empty if the key is missing.
  std::vector<std::string> texts(const std::string& name) const;
  /// Returns a list of non-negative integers, such as the numbers of CPUs; empty if the key is missing.
  std::vector<std::uint32_t> indices(const std::string& name) const;
  /// Returns a table whose values are strings and whose keys the user chooses; empty if the key is missing.
  std::map<std::string, std::string> text_table(const std::string& name) const;

 private:
  const Value& value_;
  std::string path_;
};

/// Reads the table `environment` of a component, and returns the environment variables in it by name. `table` is the
/// component's table. Throws if a name contains '=', or if a name or a value contains a zero byte.
std::map<std::string, std::string> read_environment(const TableReader& table);

}  // namespace trainyard::launch
