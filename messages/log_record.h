// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

#include "messages/words.h"

namespace trainyard {

/// The topic of all log records. Every process publishes its own records and the records of its components on this
/// topic.
inline constexpr const char* kLogTopic = "/log";

/// The importance of a line of the log, from the least to the most important. A log that is set to one of these levels
/// shows the lines of this level and of all more important levels. A log that is set to kOff shows no lines.
enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError, kCritical, kOff };
constexpr auto words_of(LogLevel) {
  return words("log level", "trace", "debug", "info", "warning", "error", "critical", "off");
}

/// One line of the log. Each line that a component writes to its logger becomes a record, which its process publishes
/// on the topic kLogTopic.
struct LogRecord {
  static constexpr const char* kTypeName = "LogRecord";

  std::int64_t time_ns = 0;  ///< When the line was logged, according to CLOCK_REALTIME.
  LogLevel level = LogLevel::kInfo;
  /// The component's full name, or the name of the process for a line that no component wrote.
  std::string component;
  std::string text;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(time_ns), CEREAL_NVP(level), CEREAL_NVP(component), CEREAL_NVP(text));
  }
};

}  // namespace trainyard
