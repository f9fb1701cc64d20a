#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// The topic of all log records. Every process publishes it for its components, so nobody is its one sender.
inline constexpr const char* kLogTopic = "/log";

/// One line of a component's log: made by the runtime from what components write to their logger, for
/// visitors and whoever subscribes.
struct LogRecord {
  static constexpr const char* kTypeName = "LogRecord";

  std::int64_t time_ns = 0;  ///< CLOCK_REALTIME.
  std::string level;         ///< "debug", "info", "warning", "error".
  // Full name, or the process's for what no component says.
  std::string component;
  std::string text;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(time_ns), CEREAL_NVP(level), CEREAL_NVP(component), CEREAL_NVP(text));
  }
};

}  // namespace trainyard
