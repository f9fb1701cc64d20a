// SPDX-License-Identifier: Apache-2.0
#include "launch/file/origin.h"

namespace trainyard::launch {

std::string to_text(const Origin& origin) {
  if (origin.file.empty()) return "command line";
  // Line 0 stands for the whole file.
  return origin.line == 0 ? origin.file : fmt::format("{}:{}", origin.file, origin.line);
}

Error error_at(const Origin& origin, std::string_view key, std::string_view text, Code code) {
  if (key.empty()) return Error(code, "{}: {}", to_text(origin), text);
  return Error(code, "{}: {}: {}", to_text(origin), key, text);
}

}  // namespace trainyard::launch
