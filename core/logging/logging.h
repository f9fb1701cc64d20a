// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string>

#include "messages/log_record.h"

namespace trainyard {

/// The destination of all log lines of a process. A hub writes the lines to standard error and passes them to a
/// listener, which publishes them on the log topic. A process of a run has one hub. A test can make several, because
/// there is no global state. Thread-safe.
class LogHub {
 public:
  /// `level` is the lowest level that is written to standard error. The listener also receives lower levels, down to
  /// kDebug.
  explicit LogHub(LogLevel level);

  /// Returns a logger whose lines carry the component's name.
  std::shared_ptr<spdlog::logger> logger(const std::string& component) const;

  /// Sets the listener, which is called with every record, one at a time, on the thread that logs it. The listener must
  /// not log. An empty `listener` removes the current one.
  void listen(std::function<void(const LogRecord&)> listener);

 private:
  class RecordSink;
  spdlog::sink_ptr stderr_;
  std::shared_ptr<RecordSink> records_;
};

}  // namespace trainyard
