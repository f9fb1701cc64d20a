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
#include "viewer/added_ranks.h"

namespace trainyard::viewer {

/// The confusion matrices of one run, summed over its ranks. A confusion matrix counts, for each pair of classes, the
/// samples of the first class that a classifier has assigned to the second. When there are too many matrices, the
/// oldest are removed.
class ConfusionShelf {
 public:
  static constexpr std::size_t kMaxMatrices = 200;
  /// The maximum number of elements in all matrices together.
  static constexpr std::size_t kMaxCounts = 1u << 20;

  /// Adds a message. Returns false if the shelf already contains the message, or if the message has no classes, too
  /// many classes, or a number of counts that is not the square of the number of classes. If a rank reports an
  /// evaluation of the same split again at the same step, the new evaluation replaces the old one.
  bool add(const Confusion& confusion);

  /// Returns the matrix of the evaluation of `split` at `step`, in the form that docs/viewer_protocol.md describes. If
  /// `split` is empty, the split of the newest matrix is used. If `step` is empty, the newest matrix of the split is
  /// returned. Throws kNotFound if there is no such matrix.
  nlohmann::json matrix(const std::string& split, std::optional<std::uint64_t> step) const;

  /// Returns a number that increases with every message that is added.
  std::uint64_t revision() const { return revision_; }
  /// If a matrix was added since revision() returned `position`, appends to `news` one message for a browser page (a
  /// "push" in docs/viewer_protocol.md) that announces the newest matrix, and sets `position` to revision().
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  struct Matrix {
    Confusion sum;
    AddedRanks ranks;
  };

  std::deque<Matrix> matrices_;
  std::size_t counts_ = 0;
  std::set<std::pair<std::int64_t, std::uint32_t>> known_;  ///< The times and ranks of the messages that were added.
  std::uint64_t revision_ = 0;
};

}  // namespace trainyard::viewer
