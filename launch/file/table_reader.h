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

/// Returns the table in `value`. Throws if `value` is not a table.
const Value::Table& table_of(const Value& value, std::string_view key);

/// Throws unless `name` can name a component, process, thread, ...: it starts with a letter or '_', continues with
/// letters, digits, '_' and '-', and has at most 64 bytes. `value` is where it was written.
void check_name(const Value& value, std::string_view key, const std::string& name);

/// The longest duration that a launch file can ask for: a day, which is far from any overflow.
constexpr std::int64_t kMaxMilliseconds = 86'400'000;

/// Reads the keys of one table, each with its type. Every error says file, line and key. A missing key gives the
/// fallback; a value of another type is an error and is never converted (except that seconds() also takes an integer).
/// The reader keeps a reference to the table, which must outlive the reader.
class TableReader {
 public:
  /// Reads a table with a fixed set of keys. Throws if `value` is not a table, or if it has a key that is not in
  /// `known`; the error suggests the nearest one.
  TableReader(const Value& value, std::string path, const std::vector<std::string>& known);

  /// Reads a table whose keys the user chooses.
  TableReader(const Value& value, std::string path);

  /// Returns the value of a key, or null if the key is missing.
  const Value* find(const std::string& name) const { return value_.find(name); }
  bool has(const std::string& name) const { return find(name) != nullptr; }
  /// Returns the whole path of a key, for errors, such as "component.logger.params".
  std::string key(std::string_view name) const { return join_key(path_, name); }

  /// Returns a string.
  std::string text(const std::string& name, std::string fallback) const;
  /// Returns a string that is valid as a name (check_name).
  std::string name(const std::string& name, std::string fallback) const;
  /// Returns one of several words; the error suggests the nearest.
  std::string one_of(const std::string& name, const std::vector<std::string>& choices, std::string fallback) const;
  /// Returns the value of an enumeration that one of its words names; the error suggests the nearest.
  template <Worded E>
  E word(const std::string& name, E fallback) const {
    const auto& words = kWords<E>.values;
    return from_name<E>(one_of(name, {words.begin(), words.end()}, std::string(name_of(fallback))));
  }
  /// Returns true or false; the values 0 and 1 are refused.
  bool flag(const std::string& name, bool fallback) const;
  /// Returns an integer from `minimum` to the maximum, which are both allowed.
  std::int64_t integer(const std::string& name, std::int64_t fallback, std::int64_t minimum,
                       std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  /// Returns a number above 0, or not below it, and at most a day.
  double seconds(const std::string& name, double fallback, bool may_be_zero = false) const;
  /// Returns a list of strings; empty if the key is missing.
  std::vector<std::string> texts(const std::string& name) const;
  /// Returns a list of integers >= 0, such as CPUs; empty if the key is missing.
  std::vector<std::uint32_t> indices(const std::string& name) const;
  /// Returns a table of strings whose keys the user chooses; empty if the key is missing.
  std::map<std::string, std::string> text_table(const std::string& name) const;

 private:
  const Value& value_;
  std::string path_;
};

/// Reads the table `environment`: the names and values of variables. Throws if a name contains '=', or if a name or a
/// value contains a zero byte.
std::map<std::string, std::string> read_environment(const TableReader& table);

}  // namespace trainyard::launch
