// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard::prometheus {

/// The two text formats that Prometheus can read: the Prometheus text format, version 0.0.4, and OpenMetrics, version
/// 1.0.0.
enum class Form : std::uint8_t { kText, kOpenMetrics };

/// Returns the format in which to answer a client. `accept` is the header `Accept` of its request.
Form preferred_form(std::string_view accept);
/// Returns the header `Content-Type` of an answer in this format.
std::string content_type(Form form);

enum class Kind : std::uint8_t { kGauge, kCounter, kInfo };

/// The name and the value of a label. The value can be any text; control characters and invalid UTF-8 are replaced.
using Label = std::pair<std::string_view, std::string_view>;

/// Writes metrics as text for Prometheus. Every metric is a family, which has one sample for each combination of label
/// values.
///
///     Exposition text(Form::kText);
///     text.family("trainyard_steps", Kind::kCounter, "Steps of training that are done.");
///     text.sample({}, 840);
///     send(text.finish());
class Exposition {
 public:
  explicit Exposition(Form form) : form_(form) {}

  /// Begins a family. A family without samples is left out of the text. Pass `name` without the suffix `_total` or
  /// `_info`, which this class adds for counters and infos. `name` and `help` must be valid until the next family
  /// begins.
  void family(std::string_view name, Kind kind, std::string_view help);
  /// Adds a sample to the current family. NaN and infinities are allowed.
  void sample(std::initializer_list<Label> labels, double value);

  /// Returns the complete text. Must be called once, after the last sample.
  std::string finish();

 private:
  void begin_family();

  Form form_;
  std::string text_;
  std::string_view name_, help_;
  Kind kind_ = Kind::kGauge;
  bool begun_ = false;  ///< True if the header lines of the current family have been written.
};

}  // namespace trainyard::prometheus
