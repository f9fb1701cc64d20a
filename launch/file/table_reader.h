#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "launch/file/value.h"

namespace trainyard::launch {

/// The table in `value`; throws if it is something else.
const Value::Table& table_of(const Value& value, std::string_view key);

/// Throws unless `name` can name a component, process, thread, ...: it starts with a letter or '_', goes on with
/// letters, digits, '_' and '-', and has at most 64 bytes. `value` is where it was written.
void check_name(const Value& value, std::string_view key, const std::string& name);

/// The longest duration that a launch file can ask for: a day, far from any overflow.
constexpr std::int64_t kMaxMilliseconds = 86'400'000;

/// Reads the keys of one table, each with its type. Every error says file, line and key. A key that is missing gives
/// the fallback; a key that is there with another type is an error, never a conversion. Refers to the value it was made
/// with.
class TableReader {
 public:
  /// Throws if `value` is no table, or for a key that is not in `known`, with the nearest one.
  TableReader(const Value& value, std::string path, const std::vector<std::string>& known);

  /// For tables with keys of the user's choice.
  TableReader(const Value& value, std::string path);

  /// Null if the key is missing.
  const Value* find(const std::string& name) const { return value_.find(name); }
  bool has(const std::string& name) const { return find(name) != nullptr; }
  /// The whole path of a key, for errors: "component.logger.params".
  std::string key(std::string_view name) const { return join_key(path_, name); }

  /// A string.
  std::string text(const std::string& name, std::string fallback) const;
  /// A string that can name something (check_name).
  std::string name(const std::string& name, std::string fallback) const;
  /// One of some words; the error suggests the nearest.
  std::string one_of(const std::string& name, const std::vector<std::string>& choices, std::string fallback) const;
  /// true or false, not 0 or 1.
  bool flag(const std::string& name, bool fallback) const;
  /// Both ends are allowed.
  std::int64_t integer(const std::string& name, std::int64_t fallback, std::int64_t minimum,
                       std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  /// Above 0, at most a day.
  double seconds(const std::string& name, double fallback) const;
  /// A list of strings; empty if the key is missing.
  std::vector<std::string> texts(const std::string& name) const;
  /// A list of integers >= 0, of cpus for instance; empty if the key is missing.
  std::vector<std::uint32_t> indices(const std::string& name) const;
  /// A table of strings with keys of the user's choice; empty if the key is missing.
  std::map<std::string, std::string> text_table(const std::string& name) const;

 private:
  const Value& value_;
  std::string path_;
};

/// The key "environment": names without '=' and values, both without zero bytes.
std::map<std::string, std::string> read_environment(const TableReader& table);

}  // namespace trainyard::launch
