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

/// The observations that rules get once a second.
struct Poll {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  /// The free space on the file system of the output directory, in bytes; 0 if it is unknown.
  std::uint64_t free_bytes = 0;
  /// For each edge, as "data_loader -> accelerator_host (/batches)", how many messages it has dropped so far.
  std::map<std::string, std::uint64_t> dropped;
};

/// Detects one kind of problem of a run. A rule receives all observations in order, and calls `raise` when it detects
/// the problem. It raises the same alert again only after the problem has disappeared in between.
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

/// A value is NaN or infinite.
class NanRule final : public Rule {
 public:
  using Rule::Rule;
  void on_metrics(const Metrics& metrics) override;

 private:
  std::set<std::string> open_;  ///< The metrics whose values are not finite at the moment.
};

/// The training loss is far above its earlier values: more than 6 standard deviations, and more than 50 %, above the
/// mean of about the last 50 reports.
class SpikeRule final : public Rule {
 public:
  using Rule::Rule;
  void on_metrics(const Metrics& metrics) override;

 private:
  std::uint64_t seen_ = 0;
  double mean_ = 0, variance_ = 0;
  int above_ = 0;  ///< The number of consecutive reports that were far above.
};

/// The training loss no longer falls: the mean of 500 reports is less than 0.1 % below the mean of the 500 before. The
/// rule ignores losses that are not positive, because percentages of them have no meaning.
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

/// In five reports in a row, a rank did less than 70 % of what the median rank did in the same time.
class SlowRankRule final : public Rule {
 public:
  using Rule::Rule;
  void on_rank(const RankMetrics& metrics) override;

 private:
  std::map<std::uint32_t, double> throughput_;
  std::map<std::uint32_t, int> slow_;
};

/// The file system of the output directory is nearly full: less than 2 GiB (a warning) or 256 MiB (an error) are free.
class DiskRule final : public Rule {
 public:
  using Rule::Rule;
  void on_poll(const Poll& poll) override;

 private:
  int level_ = 0;
};

/// An edge between components drops messages. One alert for each edge.
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
