// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard::prometheus {

/// The two forms of text that Prometheus reads: its own, version 0.0.4, and OpenMetrics, version 1.0.0.
enum class Form : std::uint8_t { kText, kOpenMetrics };

/// Returns the form that a client prefers. `accept` is the field `Accept` of its request.
Form preferred_form(std::string_view accept);
/// Returns the content type of an answer in this form.
std::string content_type(Form form);

enum class Kind : std::uint8_t { kGauge, kCounter, kInfo };

/// The name and the value of a label. The value can be any text; bytes that are not UTF-8, and control characters, are
/// replaced.
using Label = std::pair<std::string_view, std::string_view>;

/// Writes metrics as text. Every metric is a family with one sample for each combination of labels.
///
///     Exposition text(Form::kText);
///     text.family("trainyard_steps", Kind::kCounter, "Steps of training that are done.");
///     text.sample({}, 840);
///     send(text.finish());
class Exposition {
 public:
  explicit Exposition(Form form) : form_(form) {}

  /// Begins a family. A family without samples is left out of the text. `name` is given without the endings `_total`
  /// and `_info`, which are added for counters and infos. The memory of `name` and `help` must be valid until the next
  /// family begins.
  void family(std::string_view name, Kind kind, std::string_view help);
  /// Adds a sample to the family. NaN and infinities are allowed.
  void sample(std::initializer_list<Label> labels, double value);

  /// Returns the complete text.
  std::string finish();

 private:
  void begin_family();

  Form form_;
  std::string text_;
  std::string_view name_, help_;
  Kind kind_ = Kind::kGauge;
  bool begun_ = false;  ///< True if the head of the current family has been written.
};

}  // namespace trainyard::prometheus
