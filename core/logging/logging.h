#pragma once

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string>

#include "messages/log_record.h"

namespace trainyard {

/// Where the log lines of a process go: standard error, and whoever listens to the log topic. One for each process;
/// nothing here is global, so tests can have several. Thread-safe.
class LogHub {
 public:
  /// `level`: "debug", "info", "warning", "error" or "off", for standard error alone; throws kInvalidArgument for
  /// another.
  explicit LogHub(const std::string& level);

  /// A logger whose lines carry the component's name.
  std::shared_ptr<spdlog::logger> logger(const std::string& component) const;

  /// Also gives every record to `listener`, from the thread that logs; empty = to nobody.
  void listen(std::function<void(const LogRecord&)> listener);

 private:
  class RecordSink;
  spdlog::sink_ptr stderr_;
  std::shared_ptr<RecordSink> records_;
};

}  // namespace trainyard
