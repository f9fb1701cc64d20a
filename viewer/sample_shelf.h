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

/// A prediction of the model, in a form that can be shown.
struct Sample {
  std::uint64_t step = 0;
  std::string title;
  std::string text;
  nlohmann::json tensors = nlohmann::json::array();  ///< The dtype and shape of each tensor.
  std::string image;                                 ///< A PNG image in base64; empty if there is none.
  /// For a sample of an evaluation, an object with the fields `split`, `index`, `right`, `predicted` and `probability`;
  /// otherwise null.
  nlohmann::json result;
};

/// Converts the JSON form of a Prediction to a sample. Throws nlohmann::json::exception if the object has another form.
Sample sample_of(const nlohmann::json& prediction);

/// The samples of one run. Their number and size are limited: when there are too many samples, the oldest are removed.
/// Long texts are cut, and large images are left out.
class SampleShelf {
 public:
  static constexpr std::size_t kMaxSamples = 1000;
  /// The maximum size of an image in base64, in bytes. Larger images are left out.
  static constexpr std::size_t kMaxImage = 96u << 10;

  /// Adds a sample, unless the shelf already contains it. Samples with the same step, title, text and result count as
  /// one sample.
  void add(Sample sample);
  void add(const SampleResults& results);

  /// Returns the newest `limit` samples, or, if `before` is given, the newest `limit` of those whose numbers are
  /// smaller than `before`. docs/viewer_protocol.md describes the form of the result.
  nlohmann::json list(std::optional<std::uint64_t> before, std::size_t limit) const;

  /// Returns the number that the next sample will get.
  std::uint64_t end() const { return samples_.end(); }
  /// Appends the samples numbered `position` and above to `news`, as one message for a browser page (a "push" in
  /// docs/viewer_protocol.md), and sets `position` to end(). If there are more than kMostNews, only the newest
  /// kMostNews are included. Does nothing if there are none.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  nlohmann::json json_at(std::uint64_t number) const;

  Newest<Sample> samples_{kMaxSamples};
  KnownHashes known_{kMaxSamples};
};

}  // namespace trainyard::viewer
