// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "messages/histogram.h"
#include "messages/log_record.h"
#include "messages/metrics.h"
#include "messages/validation_results.h"
#include "viewer/shelves.h"

namespace trainyard::viewer {

/// Everything that the viewer knows about one run. Sources, such as a Follower, write into the book, and the
/// connections of browser pages read from it. Both use different threads, so every function locks the book. Its
/// contents are divided into shelves, one for each kind of data (shelves.h). The size of each shelf, and thus of the
/// book, is limited.
///
///     book.add(metrics);
///     json list = book.read([](const Shelves& run) { return run.curves.list(); });
///     json summary = book.read(&Shelves::summary);
class Book {
 public:
  explicit Book(Identity identity);

  void set_identity(Identity identity);
  void set_phase(RunPhase phase, const std::string& message = "");
  /// Sets the message and leaves the phase as it is.
  void set_message(const std::string& message);
  void set_graph(nlohmann::json graph);
  void set_hyperparameters(nlohmann::json map);

  /// Adds a row of metrics. Returns false if the book already contains the row, or if there are too many stages
  /// (CurveShelf::kMaxStages).
  bool add(const Metrics& metrics);
  /// Adds a record of the log. Returns false if the book already contains the record.
  bool add(const LogRecord& record);
  /// Adds a sample, unless the book already contains it.
  void add(Sample sample);
  void add(const SampleResults& results);
  void add(const Histograms& histograms);
  void add(const Confusion& confusion);
  void add(Change change);
  void add(Alert alert);
  /// Removes rows of metrics whose steps a later launch has repeated. Needed for a directory to which several launches
  /// have written.
  void drop_repeated_steps();

  /// Calls `look` with the contents of the book, and returns a copy of the result. `look` can be a function or a
  /// pointer to a member of Shelves. The book is locked during the call, so the function must not use the book.
  template <class Look>
  auto read(const Look& look) const {
    const std::lock_guard lock(mutex_);
    return std::invoke(look, shelves_);
  }

 private:
  mutable std::mutex mutex_;
  Shelves shelves_;
};

}  // namespace trainyard::viewer
