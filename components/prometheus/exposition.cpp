// SPDX-License-Identifier: Apache-2.0
#include "components/prometheus/exposition.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "messages/printable.h"

namespace trainyard::prometheus {
namespace {

std::string_view suffix_of(Kind kind) {
  if (kind == Kind::kCounter) return "_total";
  return kind == Kind::kInfo ? "_info" : "";
}

std::string_view type_of(Kind kind, Form form) {
  if (kind == Kind::kCounter) return "counter";
  return kind == Kind::kInfo && form == Form::kOpenMetrics ? "info" : "gauge";
}

std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

/// Returns a label value in quotes. Without control characters, the rules for quoting are the same as in JSON.
std::string quoted(std::string_view text) {
  return nlohmann::json(printable_line(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

// The weights in the header are ignored, because Prometheus itself prefers OpenMetrics, and other clients name only one
// type or none.
Form preferred_form(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos ? Form::kText : Form::kOpenMetrics;
}

std::string content_type(Form form) {
  if (form == Form::kOpenMetrics) return "application/openmetrics-text; version=1.0.0; charset=utf-8";
  return "text/plain; version=0.0.4; charset=utf-8";
}

void Exposition::family(std::string_view name, Kind kind, std::string_view help) {
  name_ = name;
  kind_ = kind;
  help_ = help;
  begun_ = false;
}

// In OpenMetrics, the header lines contain the name of the family, in the older format the name of its samples, with
// the suffix.
void Exposition::begin_family() {
  const std::string_view suffix = form_ == Form::kOpenMetrics ? "" : suffix_of(kind_);
  fmt::format_to(std::back_inserter(text_), "# HELP {}{} {}\n# TYPE {}{} {}\n", name_, suffix, help_, name_, suffix,
                 type_of(kind_, form_));
  begun_ = true;
}

void Exposition::sample(std::initializer_list<Label> labels, double value) {
  if (!begun_) begin_family();
  text_ += name_;
  text_ += suffix_of(kind_);
  char separator = '{';
  for (const auto& [name, text] : labels) {
    fmt::format_to(std::back_inserter(text_), "{}{}={}", separator, name, quoted(text));
    separator = ',';
  }
  if (separator == ',') text_ += '}';
  fmt::format_to(std::back_inserter(text_), " {}\n", text_of(value));
}

std::string Exposition::finish() {
  if (form_ == Form::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace trainyard::prometheus
