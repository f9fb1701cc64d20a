// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "messages/arena.h"
#include "messages/dataset_info.h"
#include "messages/histogram.h"
#include "messages/log_record.h"
#include "messages/metrics.h"
#include "messages/prediction.h"
#include "messages/run_state.h"
#include "messages/validation_results.h"

namespace trainyard {

/// The base class of everything that records the run in one format. A sink ignores messages that its format cannot
/// represent. Any call may throw kIo; the logger then reports the error once and continues without the sink. A sink is
/// called only on the logger's event loop. on() should only buffer, and flush() should write.
class Sink {
 public:
  virtual ~Sink() = default;

  virtual void on(const Metrics&) {}
  virtual void on(const ModelInfo&) {}
  virtual void on(const DatasetInfo&) {}
  virtual void on(const Prediction&) {}
  virtual void on(const Histograms&) {}
  virtual void on(const Confusion&) {}
  virtual void on(const SampleResults&) {}
  virtual void on(const CheckpointDone&) {}
  virtual void on(const LogRecord&) {}

  /// Passes all buffered records to the operating system.
  virtual void flush() = 0;
};

/// Returns the current time in nanoseconds since 1970, for messages that carry no time.
std::int64_t realtime_ns();

}  // namespace trainyard
