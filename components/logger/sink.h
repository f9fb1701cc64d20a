#pragma once

#include "messages/arena.h"
#include "messages/dataset_info.h"
#include "messages/log_record.h"
#include "messages/metrics.h"
#include "messages/prediction.h"
#include "messages/run_state.h"

namespace trainyard {

/// Something that keeps a record of the run. A sink takes what it can hold and ignores the rest. Any call may throw
/// kIo; the logger then reports it once and goes on without the sink. Only the logger's loop calls a sink. on() should
/// only buffer, and flush() write.
class Sink {
 public:
  virtual ~Sink() = default;

  virtual void on(const Metrics&) {}
  virtual void on(const ModelInfo&) {}
  virtual void on(const DatasetInfo&) {}
  virtual void on(const Prediction&) {}
  virtual void on(const CheckpointDone&) {}
  virtual void on(const LogRecord&) {}

  /// Passes to the operating system what has been taken so far.
  virtual void flush() = 0;
};

/// The current time, for messages that carry none: nanoseconds of CLOCK_REALTIME.
std::int64_t realtime_ns();

}  // namespace trainyard
