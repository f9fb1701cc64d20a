// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "messages/metrics.h"
#include "viewer/alert.h"

namespace trainyard::viewer {

/// Values that are collected once a second while a launch is followed, and that all rules receive.
struct Poll {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  /// The free space on the file system of the output directory; 0 if it is unknown.
  std::uint64_t free_bytes = 0;
  /// The number of messages that each edge has dropped so far. The keys have the form "data_loader -> accelerator_host
  /// (/batches)".
  std::map<std::string, std::uint64_t> dropped;
};

/// The base class of rules, each of which detects one kind of problem in a run. A rule receives all metrics, and the
/// values of Poll once a second, and raises an alert when it detects the problem. It raises the same alert again only
/// if the problem has disappeared and comes back.
class Rule {
 public:
  using Raise = std::function<void(Alert)>;

  explicit Rule(Raise raise) : raise_(std::move(raise)) {}
  virtual ~Rule() = default;

  virtual void on_metrics(const Metrics&) {}
  virtual void on_rank(const RankMetrics&) {}
  virtual void on_poll(const Poll&) {}

 protected:
  void raise(Alert alert) const { raise_(std::move(alert)); }

 private:
  Raise raise_;
};

/// Raises an alert if the value of a metric is NaN or infinite.
class NanRule final : public Rule {
 public:
  using Rule::Rule;
  void on_metrics(const Metrics& metrics) override;

 private:
  std::set<std::string> open_;  ///< The names of the metrics that are not finite at present.
};

/// Raises an alert if the training loss is much higher than before: if it exceeds the mean of about the last 50 reports
/// by more than 6 standard deviations and also by more than half of that mean.
class SpikeRule final : public Rule {
 public:
  using Rule::Rule;
  void on_metrics(const Metrics& metrics) override;

 private:
  std::uint64_t seen_ = 0;
  double mean_ = 0, variance_ = 0;
  int above_ = 0;  ///< The number of consecutive reports whose loss exceeds both limits.
};

/// Raises an alert if the training loss no longer falls: if the mean of 500 reports is less than 0.1 % below the mean
/// of the 500 reports before them. Does not apply to losses that are zero or negative, for which a percentage has no
/// meaning.
class PlateauRule final : public Rule {
 public:
  static constexpr std::uint64_t kWindow = 500;
  using Rule::Rule;
  void on_metrics(const Metrics& metrics) override;

 private:
  double sum_ = 0, before_ = 0;
  std::uint64_t count_ = 0;
  bool has_before_ = false, open_ = false;
};

/// Raises an alert if in five consecutive reports the throughput of a rank was less than 70 % of the median throughput
/// of all ranks.
class SlowRankRule final : public Rule {
 public:
  using Rule::Rule;
  void on_rank(const RankMetrics& metrics) override;

 private:
  std::map<std::uint32_t, double> throughput_;
  std::map<std::uint32_t, int> slow_;
};

/// Raises an alert if the file system of the output directory is nearly full: a warning if less than 2 GiB are free,
/// and an error if less than 256 MiB are free.
class DiskRule final : public Rule {
 public:
  using Rule::Rule;
  void on_poll(const Poll& poll) override;

 private:
  int level_ = 0;
};

/// Raises an alert if an edge between components drops messages. There is at most one alert for each edge.
class DroppedRule final : public Rule {
 public:
  using Rule::Rule;
  void on_poll(const Poll& poll) override;

 private:
  std::set<std::string> known_;
};

/// Returns one rule of each kind.
std::vector<std::unique_ptr<Rule>> all_rules(const Rule::Raise& raise);

}  // namespace trainyard::viewer
