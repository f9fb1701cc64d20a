// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "environments/process_facts.h"

namespace trainyard::environments {

/// Reads the environment variables that an engine, such as Slurm, sets for the processes that it starts. Every error
/// message names the environment and the variable, and states its value and what is allowed. A variable whose value is
/// empty counts as not set.
class VariableReader {
 public:
  /// `where` is the name of the environment in error messages. The facts must outlive the reader.
  VariableReader(const ProcessFacts& facts, std::string where) : facts_(facts), where_(std::move(where)) {}

  bool has(std::string_view name) const { return !text(name).empty(); }
  /// Returns the value, or an empty string if the variable is not set.
  std::string_view text(std::string_view name) const;
  /// Returns the value. Throws kNotFound if the variable is not set.
  std::string required_text(std::string_view name) const;

  /// Returns the value, a whole number from `lowest` to `highest`, or an empty optional if the variable is not set.
  /// Throws kInvalidArgument for any other value.
  std::optional<std::uint32_t> number(std::string_view name, std::uint32_t lowest, std::uint32_t highest) const;
  /// Like number(), but throws kNotFound if the variable is not set.
  std::uint32_t required_number(std::string_view name, std::uint32_t lowest, std::uint32_t highest) const;
  /// Returns a count from 1 to kMostHosts; otherwise like required_number().
  std::uint32_t required_count(std::string_view name) const;
  /// Returns a number that is smaller than `count`; otherwise like required_number().
  std::uint32_t required_index(std::string_view name, std::uint32_t count) const;

  const std::string& where() const { return where_; }

 private:
  const ProcessFacts& facts_;
  std::string where_;
};

/// Returns the whole number from `lowest` to `highest` that `text` contains. Returns an empty optional for any other
/// text; only digits are allowed.
std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t lowest, std::uint32_t highest);

/// Returns `text` in a form for error messages: on one line, cut to at most 80 characters, and by default in quotation
/// marks.
std::string shown(std::string_view text, bool quoted = true);

}  // namespace trainyard::environments
