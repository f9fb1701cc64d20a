// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "web/role.h"

namespace trainyard::web {

/// A GET request that the gatekeeper has let in.
struct Request {
  std::string path;                          ///< The decoded path, such as "/metrics".
  std::map<std::string, std::string> query;  ///< The decoded arguments after the question mark, without the token.
  Role role = Role::kWatch;
  std::string accept;  ///< The field `Accept`: which types of content the client prefers.
};

/// The answer to a request.
struct Response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  ///< Shared, because files are sent many times. Null is an empty body.
};

/// Returns an answer that consists of one plain sentence.
Response plain(unsigned status, std::string sentence);

/// The target of a request such as "/ws?token=abc", taken apart and decoded.
struct Target {
  std::string path;
  std::map<std::string, std::string> query;

  /// Returns the value of an argument, or an empty text.
  std::string argument(const std::string& name) const;
};

/// Takes a target apart. A target that is not a path, or whose percent signs are not followed by two hexadecimal
/// digits, gets an empty path. At most 32 arguments are read.
Target parse_target(std::string_view text);

}  // namespace trainyard::web
