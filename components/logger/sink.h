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

/// The base class of the Display and of the classes that record the run in files, each in one format. A sink ignores
/// messages that its format cannot represent. on() should only buffer the message, and flush() should write. If a file
/// cannot be written, both may throw kIo; the logger then reports the error once and continues without this sink. All
/// functions are called on the logger's event loop.
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

  /// Writes all buffered text.
  virtual void flush() = 0;
};

/// Returns the current time in nanoseconds since 1970, for messages that do not contain a time.
std::int64_t realtime_ns();

}  // namespace trainyard
