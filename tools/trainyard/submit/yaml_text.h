// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace trainyard::tools::submit {

/// Returns `text` as a YAML scalar, quoted where necessary, so that every reader of YAML 1.1 or 1.2 reads it as this
/// text and not as a number, a boolean, null, a date or a structure. Throws kInvalidArgument if the text is not valid
/// UTF-8.
std::string yaml_scalar(std::string_view text);

/// Returns a JSON object or array as YAML in block style, with one entry on each line, in the order of the entries.
std::string yaml_text(const nlohmann::ordered_json& value);

}  // namespace trainyard::tools::submit
