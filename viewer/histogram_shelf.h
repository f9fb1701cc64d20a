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
#include "viewer/added_ranks.h"

namespace trainyard::viewer {

/// Adds the histogram `other` to `sum`. Both histograms belong to the same tensor; `other` may describe the part of it
/// that another rank holds. The buckets of the result are as wide as those of the coarser histogram, or wider if there
/// would be too many.
void add_to(Histogram& sum, const Histogram& other);

/// The histograms of one run over time. Their number is limited: when there are too many, the histograms of every
/// second step of each tensor are removed, so that the whole run remains visible.
class HistogramShelf {
 public:
  static constexpr std::size_t kMaxSeries = 2 * Histograms::kMaxHistograms;
  static constexpr std::size_t kMaxEntries = 20'000;

  /// Adds the histograms of a message. Returns false if the shelf already contains them. If a rank reports a tensor
  /// again for the same step, the new histogram replaces the old one. Histograms whose numbers are inconsistent are
  /// ignored.
  bool add(const Histograms& message);

  /// Returns the list of all tensors that have histograms. The elements have the form `{"of", "name", "steps",
  /// "last_step", "elements"}`.
  nlohmann::json list() const;
  /// Returns the histograms of one tensor over time, in the form that docs/viewer_protocol.md describes. All of them
  /// have the same buckets, at most `buckets` in number. Throws kNotFound if there is no such tensor; the error message
  /// suggests the most similar name.
  nlohmann::json series(HistogramOf of, const std::string& name, std::size_t buckets) const;

  /// Returns a number that increases with every message that is added.
  std::uint64_t revision() const { return revision_; }
  /// If histograms were added since revision() returned `position`, appends to `news` one message for a browser page (a
  /// "push" in docs/viewer_protocol.md) that announces them, and sets `position` to revision().
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  using Key = std::pair<HistogramOf, std::string>;
  struct Entry {
    Histogram sum;
    AddedRanks ranks;
  };

  void thin_out();

  std::map<Key, std::map<std::uint64_t, Entry>> series_;    ///< The histograms of each tensor, by step.
  std::set<std::pair<std::int64_t, std::uint32_t>> known_;  ///< The times and ranks of the messages that were added.
  std::size_t entries_ = 0;
  std::uint64_t revision_ = 0, last_step_ = 0;
};

}  // namespace trainyard::viewer
