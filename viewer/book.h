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

/// Everything that is known about one run, for sources that write into it and pages that read from it, on different
/// threads: every function locks the book. The book is bounded, because each of its shelves is.
///
///     book.add(metrics);
///     json list = book.read([](const Shelves& run) { return run.curves.list(); });
///     json summary = book.read(&Shelves::summary);
class Book {
 public:
  explicit Book(Identity identity);

  void set_identity(Identity identity);
  void set_phase(RunPhase phase, const std::string& message = "");
  void set_graph(nlohmann::json graph);
  void set_hyperparameters(nlohmann::json map);

  /// Adds a row of metrics. Returns false if the book has it already.
  bool add(const Metrics& metrics);
  /// Adds a record. Returns false if the book has it already.
  bool add(const LogRecord& record);
  /// Adds a sample, unless the book has it already.
  void add(Sample sample);
  void add(const SampleResults& results);
  void add(const Histograms& histograms);
  void add(const Confusion& confusion);
  void add(Change change);
  void add(Alert alert);
  /// Leaves out rows of metrics whose steps were repeated later; for a directory to which several launches have
  /// written.
  void drop_repeated_steps();

  /// Calls a function with the shelves, and returns a copy of its result. A member of Shelves can stand for a function
  /// that returns it. The book is locked meanwhile, so the function must not use the book itself.
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
