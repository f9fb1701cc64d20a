// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "messages/validation_results.h"
#include "viewer/known_hashes.h"
#include "viewer/newest.h"

namespace trainyard::viewer {

/// A prediction of the model, in a form that pages can show.
struct Sample {
  std::uint64_t step = 0;
  std::string title;
  std::string text;
  nlohmann::json tensors = nlohmann::json::array();  ///< The dtype and shape of each tensor.
  std::string image;                                 ///< A PNG image in base64, or empty.
  /// For a sample of an evaluation: `split`, `index`, `right`, `predicted` and `probability`; otherwise null.
  nlohmann::json result;
};

/// Reads a Prediction in its JSON form. Throws nlohmann::json::exception.
Sample sample_of(const nlohmann::json& prediction);

/// The samples of one run. Their number is limited: the oldest are dropped, long texts are cut, and large images are
/// left out.
class SampleShelf {
 public:
  static constexpr std::size_t kMaxSamples = 1000;
  /// The maximum size of an image in base64. Larger images are left out.
  static constexpr std::size_t kMaxImage = 96u << 10;

  /// Adds a sample, unless the shelf already contains it. Two equal texts of one step count as one sample.
  void add(Sample sample);
  void add(const SampleResults& results);

  /// Returns the newest `limit` samples among those whose number is smaller than `before`; see docs/viewer_protocol.md.
  nlohmann::json list(std::optional<std::uint64_t> before, std::size_t limit) const;

  /// Returns the number that the next sample will have.
  std::uint64_t end() const { return samples_.end(); }
  /// Appends a push that contains the samples from number `position` on, if there are any, and sets `position` to the
  /// end.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  nlohmann::json json_at(std::uint64_t number) const;

  Newest<Sample> samples_{kMaxSamples};
  KnownHashes known_{kMaxSamples};
};

}  // namespace trainyard::viewer
