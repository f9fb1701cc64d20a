// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "messages/words.h"
#include "viewer/alert_shelf.h"
#include "viewer/change_shelf.h"
#include "viewer/confusion_shelf.h"
#include "viewer/curve_shelf.h"
#include "viewer/graph_shelf.h"
#include "viewer/histogram_shelf.h"
#include "viewer/identity.h"
#include "viewer/log_shelf.h"
#include "viewer/run_phase.h"
#include "viewer/sample_shelf.h"

namespace trainyard::viewer {

/// The kinds of data about a run that a page can choose to watch. The state of the run is not among them, because every
/// page receives it.
enum class NewsOf : std::uint8_t {
  kCurves,
  kGraph,
  kLog,
  kSamples,
  kHistograms,
  kConfusion,
  kAlerts,
  kParameters,  ///< Changes that were made through the viewer; see Change.
};
constexpr auto words_of(NewsOf) {
  return words("kind of news", "curves", "graph", "log", "samples", "histograms", "confusion", "alerts", "parameters");
}

/// Marks how much of a run's data a page has received already: one position for each kind of data. With these
/// positions, the page receives only what is new.
struct Positions {
  CurveShelf::Position curves;
  std::uint64_t log = 0, samples = 0, alerts = 0, changes = 0, graph = 0, histograms = 0, confusion = 0;
  std::string state;
};

/// Everything that is known about one run, with one shelf for each kind of data. Its functions return JSON in the form
/// that docs/viewer_protocol.md describes. This struct is not thread-safe; Book adds a lock.
struct Shelves {
  Identity identity;
  RunPhase phase = RunPhase::kStarting;
  std::string message;  ///< Details of the phase, such as why the run failed, or why it cannot be followed at present.
  CurveShelf curves;
  LogShelf log;
  SampleShelf samples;
  HistogramShelf histograms;
  ConfusionShelf confusion;
  ChangeShelf changes;
  AlertShelf alerts;
  GraphShelf graph;
  nlohmann::json hyperparameters = nlohmann::json::object();

  /// Returns the largest step in the metrics.
  std::uint64_t step() const { return curves.step(); }
  /// Returns a summary of this run for the list of runs.
  nlohmann::json summary() const;

  /// Returns what is new for a page that watches `what`, as a list of messages for the page (the "pushes" of
  /// docs/viewer_protocol.md, without the field "run"), and updates `positions`. Of long lists, only the newest
  /// elements are returned.
  std::vector<nlohmann::json> news(const std::vector<NewsOf>& what, Positions& positions) const;
  /// Returns the positions of a page that has received everything so far, except the state and the graph.
  Positions positions() const;
};

}  // namespace trainyard::viewer
