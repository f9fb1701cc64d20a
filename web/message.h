// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "web/role.h"

namespace trainyard::web {

/// A GET request that the gatekeeper has admitted.
struct Request {
  std::string path;                          ///< The decoded path, such as "/metrics".
  std::map<std::string, std::string> query;  ///< The decoded arguments after the question mark, without the token.
  Role role = Role::kWatch;
  std::string accept;  ///< The field `Accept`: the types of content that the client prefers.
};

/// The answer to a request.
struct Response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  /// The content. It is shared, because files are sent many times. Null stands for an empty body.
  std::shared_ptr<const std::string> body;
};

/// Returns an answer that consists of one sentence of plain text.
Response plain(unsigned status, std::string sentence);

/// The decoded parts of the target of a request, such as "/ws?token=abc".
struct Target {
  std::string path;
  std::map<std::string, std::string> query;

  /// Returns the value of an argument, or an empty string if the argument is missing.
  std::string argument(const std::string& name) const;
};

/// Decodes a target. If the text does not begin with a slash, or if a percent sign is not followed by two hexadecimal
/// digits, the path of the result is empty. At most 32 arguments are read.
Target parse_target(std::string_view text);

}  // namespace trainyard::web
