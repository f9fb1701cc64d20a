// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "messages/validation_results.h"

namespace trainyard::viewer {

/// The confusion matrices of one run, each summed over the ranks. Their number is limited; the oldest are dropped.
class ConfusionShelf {
 public:
  static constexpr std::size_t kMaxMatrices = 200;
  /// The maximum number of counts in all matrices together.
  static constexpr std::size_t kMaxCounts = 1u << 20;

  /// Adds the matrix of one rank. Returns false if the shelf already contains it, or if it does not have one count for
  /// each pair of classes.
  bool add(const Confusion& confusion);

  /// Returns the matrix of a split after a step; see docs/viewer_protocol.md. Without a split, that of the newest
  /// matrix is taken, and without a step, the newest of the split. Throws kNotFound.
  nlohmann::json matrix(const std::string& split, std::optional<std::uint64_t> step) const;

  /// Returns a number that grows with every message.
  std::uint64_t revision() const { return revision_; }
  /// Appends a push that announces a new matrix if one was added since the shelf had the revision `position`, and sets
  /// `position` to the current revision.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  std::deque<Confusion> matrices_;
  std::size_t counts_ = 0;
  std::set<std::pair<std::int64_t, std::uint32_t>> known_;  ///< The times and the ranks of the messages.
  std::uint64_t revision_ = 0;
};

}  // namespace trainyard::viewer
