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

/// A prediction of the model, as it can be shown.
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

/// The samples of one run. It is bounded: the oldest are forgotten, long texts are cut, and large images are left out.
class SampleShelf {
 public:
  static constexpr std::size_t kMaxSamples = 1000;
  /// A larger image, in base64, is left out.
  static constexpr std::size_t kMaxImage = 96u << 10;

  /// Adds a sample, unless the shelf has it already. Two equal texts of one step are one sample.
  void add(Sample sample);
  void add(const SampleResults& results);

  /// Returns the newest `limit` samples, of those with a number below `before`; see docs/viewer_protocol.md.
  nlohmann::json list(std::optional<std::uint64_t> before, std::size_t limit) const;

  /// Returns the number of the next sample.
  std::uint64_t end() const { return samples_.end(); }
  /// Appends the push with the samples from number `position` on, if any, and moves the position.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  nlohmann::json json_at(std::uint64_t number) const;

  Newest<Sample> samples_{kMaxSamples};
  KnownHashes known_{kMaxSamples};
};

}  // namespace trainyard::viewer
