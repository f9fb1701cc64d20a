// SPDX-License-Identifier: Apache-2.0
#include "viewer/live_alerts.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <utility>

#include "viewer/clock.h"

namespace trainyard::viewer {

LiveAlerts::LiveAlerts(const Identity& identity, Book& book, const OnAlert& on_alert)
    : identity_(identity),
      book_(book),
      on_alert_(on_alert),
      rules_(all_rules([this](Alert alert) { raise(std::move(alert)); })) {}

void LiveAlerts::see(const Metrics& metrics) {
  for (const auto& rule : rules_) rule->on_metrics(metrics);
}

void LiveAlerts::see(const RankMetrics& metrics) {
  for (const auto& rule : rules_) rule->on_rank(metrics);
}

void LiveAlerts::see(const visitors::Observation& observation) {
  Poll poll{.time_ns = now_ns(), .step = book_.read(&Shelves::step)};
  struct statvfs disk {};
  if (::statvfs(identity_.directory.c_str(), &disk) == 0) poll.free_bytes = disk.f_bavail * disk.f_frsize;
  for (const auto& edge : observation.edges) {
    poll.dropped[fmt::format("{} -> {} ({})", edge.from, edge.to, edge.topic)] = edge.dropped;
  }
  for (const auto& rule : rules_) rule->on_poll(poll);
}

void LiveAlerts::see_past(const Metrics& metrics) {
  silent_ = true;
  see(metrics);
  silent_ = false;
}

void LiveAlerts::raise(Alert alert) {
  book_.add(alert);
  if (!silent_) on_alert_(identity_, alert);
}

}  // namespace trainyard::viewer
