// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/validation_results.h"

namespace trainyard {

/// A PNG image and its size in pixels.
struct SizedImage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::string file;  ///< The bytes of the PNG file.
};

/// Draws a confusion matrix: rows are the correct classes, columns the predicted classes. The colour of a square shows
/// what fraction of the row's samples it contains, from white (0) to black (1). Returns nothing if the message does not
/// contain one count for each pair of classes.
std::optional<SizedImage> picture_of(const Confusion& confusion);

/// Returns a confusion matrix as a Markdown table. Returns an empty string if there are too many classes for a readable
/// table.
std::string table_of(const Confusion& confusion);

/// Returns a Markdown table of samples with their correct and predicted classes.
std::string table_of(const SampleResults& samples);

/// Adds up the confusion matrices of all ranks. The messages of several evaluations can arrive interleaved, because
/// ranks do not carry out their orders at the same time.
class ConfusionSum {
 public:
  /// Adds the message of one rank. Returns the sum when the messages of all ranks for the same evaluation have arrived,
  /// otherwise nothing.
  std::optional<Confusion> add(const Confusion& confusion);

 private:
  /// An incomplete sum, and the ranks whose messages it contains.
  struct Open {
    Confusion sum;
    std::set<std::uint32_t> ranks;
  };
  /// The largest number of incomplete sums. If there are more, because a rank has not sent its message, the oldest is
  /// discarded. At most two orders are open at a time, so ranks are never this many evaluations apart.
  static constexpr std::size_t kMostOpen = 16;

  std::list<Open> open_;  ///< In the order in which their first messages arrived.
};

}  // namespace trainyard
