// SPDX-License-Identifier: Apache-2.0
#include "core/logging/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <mutex>

namespace trainyard {

// LogLevel has the same levels as spdlog, with the same numbers, so they can be cast.
static_assert(static_cast<int>(LogLevel::kTrace) == SPDLOG_LEVEL_TRACE);
static_assert(static_cast<int>(LogLevel::kWarning) == SPDLOG_LEVEL_WARN);
static_assert(static_cast<int>(LogLevel::kOff) == SPDLOG_LEVEL_OFF);

/// Turns log lines into records. Its mutex protects listen() from lines that are being logged.
class LogHub::RecordSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void listen(std::function<void(const LogRecord&)> listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
  }

 private:
  // Runs on the thread that logs, under the sink's mutex.
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (!listener_) return;
    listener_({.time_ns = message.time.time_since_epoch().count(),
               .level = static_cast<LogLevel>(message.level),
               .component = std::string(message.logger_name.data(), message.logger_name.size()),
               .text = std::string(message.payload.data(), message.payload.size())});
  }
  void flush_() override {}

  std::function<void(const LogRecord&)> listener_;
};

LogHub::LogHub(LogLevel level)
    : stderr_(std::make_shared<spdlog::sinks::stderr_sink_mt>()), records_(std::make_shared<RecordSink>()) {
  stderr_->set_formatter(std::make_unique<spdlog::pattern_formatter>("%H:%M:%S.%e %l [%n] %v"));
  stderr_->set_level(static_cast<spdlog::level::level_enum>(level));
}

std::shared_ptr<spdlog::logger> LogHub::logger(const std::string& component) const {
  auto made = std::make_shared<spdlog::logger>(component, spdlog::sinks_init_list{stderr_, records_});
  // The logger lets all lines from debug on through, and the sink for stderr has a separate level. A subscriber to the
  // log can therefore see debug lines that the terminal does not show.
  made->set_level(spdlog::level::debug);
  return made;
}

void LogHub::listen(std::function<void(const LogRecord&)> listener) { records_->listen(std::move(listener)); }

}  // namespace trainyard
