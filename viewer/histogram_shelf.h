// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "messages/histogram.h"

namespace trainyard::viewer {

/// Adds a histogram of the same tensor to `sum`, such as that of another rank's part. The result has the wider buckets
/// of the two, or even wider ones if there would be too many.
void add_to(Histogram& sum, const Histogram& other);

/// The histograms of one run over time. Their number is limited: when there are too many, every second step of each
/// tensor is dropped, so that the whole run remains visible.
class HistogramShelf {
 public:
  static constexpr std::size_t kMaxSeries = 2 * Histograms::kMaxHistograms;
  static constexpr std::size_t kMaxEntries = 20'000;

  /// Adds the histograms of a message. Returns false if the shelf already contains them. Histograms whose numbers
  /// contradict each other are left out.
  bool add(const Histograms& message);

  /// Returns the tensors that have histograms, as a list of `{"of", "name", "steps", "last_step", "elements"}`.
  nlohmann::json list() const;
  /// Returns the histograms of one tensor over time, all with the same buckets, of which there are at most `buckets`;
  /// see docs/viewer_protocol.md. Throws kNotFound, with the nearest name.
  nlohmann::json series(HistogramOf of, const std::string& name, std::size_t buckets) const;

  /// Returns a number that grows with every message.
  std::uint64_t revision() const { return revision_; }
  /// Appends a push that announces new histograms if any were added since the shelf had the revision `position`, and
  /// sets `position` to the current revision.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  using Key = std::pair<HistogramOf, std::string>;

  void thin_out();

  std::map<Key, std::map<std::uint64_t, Histogram>> series_;  ///< The histograms of each tensor, by step.
  std::set<std::pair<std::int64_t, std::uint32_t>> known_;    ///< The times and the ranks of the messages.
  std::size_t entries_ = 0;
  std::uint64_t revision_ = 0, last_step_ = 0;
};

}  // namespace trainyard::viewer
