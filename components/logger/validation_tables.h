// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/validation_results.h"

namespace trainyard {

/// A PNG image with its size in pixels.
struct SizedImage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::string file;  ///< The bytes of the PNG file.
};

/// Draws a confusion matrix: one square for each pair of classes, with the right classes from top to bottom and the
/// predicted classes from left to right. The share of a row is black for 1 and white for 0. Returns nothing if the
/// message does not have one count for each pair.
std::optional<SizedImage> picture_of(const Confusion& confusion);

/// Returns a confusion matrix as a table in Markdown. Returns an empty text if there are too many classes to read.
std::string table_of(const Confusion& confusion);

/// Returns what a classifier says about samples as a table in Markdown.
std::string table_of(const SampleResults& samples);

/// Adds the confusion matrices of the ranks of a run.
class ConfusionSum {
 public:
  /// Adds one message. Returns the sum when the messages of all ranks have come; an evaluation that another one has
  /// overtaken is given up.
  std::optional<Confusion> add(const Confusion& confusion);

 private:
  Confusion sum_;
  std::uint32_t added_ = 0;
};

}  // namespace trainyard
