// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Returns a text as a YAML scalar that every reader of YAML 1.1 and 1.2 reads as this text, and never as a number, a
/// boolean, null, a date or a structure. Throws kInvalidArgument for a text that is not UTF-8.
std::string yaml_scalar(std::string_view text);

/// Returns a JSON object or array as YAML in block style, with one entry per line, in the order of its keys.
std::string yaml_text(const nlohmann::ordered_json& value);

}  // namespace trainyard::tools::submit
