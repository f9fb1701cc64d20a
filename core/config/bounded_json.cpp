// SPDX-License-Identifier: Apache-2.0
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

namespace trainyard {
namespace {

using nlohmann::json;

/// A handler for the parser that builds no values: it only tracks how deeply brackets are nested, and stops the parser
/// at the first bracket that is too deep.
class DepthCheck : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kMaxJsonDepth; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ <= kMaxJsonDepth; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

 private:
  int depth_ = 0;
};

}  // namespace

std::optional<json> parse_bounded_json(std::string_view text) {
  DepthCheck check;
  if (!json::sax_parse(text, &check)) return {};
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return {};
  return value;
}

}  // namespace trainyard
