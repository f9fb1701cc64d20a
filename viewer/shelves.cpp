// SPDX-License-Identifier: Apache-2.0
#include "viewer/shelves.h"

#include <utility>

namespace trainyard::viewer {
namespace {

using nlohmann::json;

json state_of(const Shelves& run) {
  return {{"state", name_of(run.phase)},
          {"message", run.message},
          {"step", run.step()},
          {"total_steps", run.curves.total_steps()}};
}

void append_state(const Shelves& run, std::string& known, std::vector<json>& news) {
  json state = state_of(run);
  std::string text = state.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text == known) return;
  known = std::move(text);
  state["push"] = "state";
  news.push_back(std::move(state));
}

void append_news(const Shelves& run, NewsOf what, Positions& positions, std::vector<json>& news) {
  switch (what) {
    case NewsOf::kCurves:
      return run.curves.append_news(positions.curves, news);
    case NewsOf::kGraph:
      return run.graph.append_news(positions.graph, news);
    case NewsOf::kLog:
      return run.log.append_news(positions.log, news);
    case NewsOf::kSamples:
      return run.samples.append_news(positions.samples, news);
    case NewsOf::kHistograms:
      return run.histograms.append_news(positions.histograms, news);
    case NewsOf::kConfusion:
      return run.confusion.append_news(positions.confusion, news);
    case NewsOf::kAlerts:
      return run.alerts.append_news(positions.alerts, news);
    case NewsOf::kParameters:
      return run.changes.append_news(positions.changes, news);
  }
}

}  // namespace

json Shelves::summary() const {
  json all = state_of(*this);
  all.update({{"run", identity.run},
              {"name", identity.name},
              {"file", identity.file},
              {"live", !is_over(phase) && identity.source == "live"},
              {"source", identity.source},
              {"started_ns", identity.started_ns},
              {"directory", identity.directory}});
  return all;
}

std::vector<json> Shelves::news(const std::vector<NewsOf>& what, Positions& positions) const {
  std::vector<json> news;
  append_state(*this, positions.state, news);
  for (const NewsOf each : what) append_news(*this, each, positions, news);
  return news;
}

Positions Shelves::positions() const {
  return {.curves = curves.position(),
          .log = log.end(),
          .samples = samples.end(),
          .alerts = alerts.end(),
          .changes = changes.end(),
          .histograms = histograms.revision(),
          .confusion = confusion.revision(),
          .state = {}};
}

}  // namespace trainyard::viewer
