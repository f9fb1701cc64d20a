// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "messages/histogram.h"
#include "messages/log_record.h"
#include "messages/metrics.h"
#include "messages/validation_results.h"
#include "viewer/columns.h"
#include "viewer/confusion_shelf.h"
#include "viewer/curve.h"
#include "viewer/histogram_shelf.h"
#include "viewer/records.h"

namespace trainyard::viewer {

/// What a run is called and where it is.
struct Identity {
  std::string run;        ///< The full name, such as "mnist-9ix", or the folder of a past run.
  std::string name;       ///< The name without the suffix.
  std::string file;       ///< The launch file.
  std::string directory;  ///< The output directory.
  std::string source;     ///< "live", "past" or "recording".
  std::int64_t started_ns = 0;
};

/// What has been sent to a page: numbers up to which it knows each list. A page that has these positions gets only what
/// is new.
struct Positions {
  std::map<std::string, std::size_t> rows;
  std::uint64_t log = 0, samples = 0, alerts = 0, changes = 0, graph = 0, histograms = 0, confusion = 0;
  std::string state;
};

/// Which records of the log somebody wants to see. Empty fields do not restrict.
struct LogRequest {
  std::optional<std::uint64_t> before;  ///< Only records with smaller numbers.
  std::size_t limit = 200;
  LogLevel level = LogLevel::kTrace;  ///< This level and all that are more important.
  std::string component;              ///< The exact name.
  std::string text;                   ///< A part of the text; letters of both cases are the same.
};

/// Everything that is known about one run. Sources write into it and pages read from it, on different threads: every
/// function locks the book. The book is bounded: it forgets old log records and samples, and thins out long series.
class Book {
 public:
  explicit Book(Identity identity);

  // What sources write.
  void set_identity(Identity identity);
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
  void set_phase(RunPhase phase, const std::string& message = "");
  void set_graph(nlohmann::json graph);
  void set_hyperparameters(nlohmann::json map);

  // What pages read, in the form of docs/viewer_protocol.md. All throw kNotFound for what the book does not have.
  nlohmann::json summary() const;
  nlohmann::json series() const;
  nlohmann::json curve(const std::string& stage, const std::string& name, const CurveRequest& request) const;
  nlohmann::json log(const LogRequest& request) const;
  nlohmann::json samples(std::optional<std::uint64_t> before, std::size_t limit) const;
  nlohmann::json histograms() const;
  nlohmann::json histogram(HistogramOf of, const std::string& name, std::size_t buckets) const;
  nlohmann::json confusion(const std::string& split, std::optional<std::uint64_t> step) const;
  nlohmann::json changes() const;
  nlohmann::json alerts() const;
  nlohmann::json graph() const;
  nlohmann::json hyperparameters() const;

  /// Returns what is new for a page that watches `what`, as a list of pushes without their field "run", and moves the
  /// positions. Of long lists, only the newest elements are given.
  std::vector<nlohmann::json> news(const std::vector<std::string>& what, Positions& positions) const;
  /// Returns the positions of a page that knows everything up to now.
  Positions positions() const;

  /// Returns whether somebody looks at the graph now: has asked for it, or got news of it, within the last seconds.
  bool graph_is_watched() const;

  Identity identity() const;
  RunPhase phase() const;
  std::uint64_t step() const;

 private:
  nlohmann::json state() const;
  nlohmann::json sample_json(std::uint64_t number) const;
  nlohmann::json record_json(std::uint64_t number) const;
  void append_news(const std::string& what, Positions& positions, std::vector<nlohmann::json>& news) const;

  mutable std::mutex mutex_;
  Identity identity_;
  RunPhase phase_ = RunPhase::kStarting;
  std::string message_;
  std::uint64_t step_ = 0, total_steps_ = 0;
  std::map<std::string, Columns> stages_;
  Newest<LogRecord> log_;
  std::unordered_set<std::uint64_t> known_records_;  ///< Hashes of the records, so that none is added twice.
  Newest<Sample> samples_;
  std::unordered_set<std::uint64_t> known_samples_;  ///< Hashes of the samples, so that none is added twice.
  HistogramShelf histograms_;
  ConfusionShelf confusion_;
  Newest<Change> changes_;
  Newest<Alert> alerts_;
  nlohmann::json graph_;
  std::uint64_t graph_number_ = 0;
  mutable std::chrono::steady_clock::time_point graph_read_;  ///< When somebody looked at the graph.
  nlohmann::json hyperparameters_ = nlohmann::json::object();
};

}  // namespace trainyard::viewer
