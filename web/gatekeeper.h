// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "web/role.h"

namespace trainyard::web {

/// The parts of a request on which the gatekeeper's decision depends. They are untrusted.
struct Approach {
  std::string host;  ///< The header field `Host`.
  /// The header field `Origin`, which browsers send with every request for a WebSocket.
  std::optional<std::string> origin;
  std::string cookie;         ///< The header field `Cookie`.
  std::string authorization;  ///< The header field `Authorization`.
  std::string token;          ///< The argument `token` of the address.
};

/// The decision of the gatekeeper about a request.
struct Verdict {
  std::optional<Role> role;  ///< The role of the sender; empty if the request is refused.
  std::string refusal;       ///< Why the request is refused, as a sentence for the user.

  bool admitted() const { return role.has_value(); }
};

/// Decides whether a request is admitted. The decision depends only on the request; the gatekeeper has no state.
///
/// A request must pass three checks. The header field `Host` must contain an address or a name that the server knows;
/// this stops attacks that make a foreign name resolve to this server (DNS rebinding). If a web page sent the request
/// (`Origin`), the page must come from this server or from an origin that the handler of the path permits. And the
/// request must contain the token of one of the two roles: in the address, in the cookie, or as a bearer token.
class Gatekeeper {
 public:
  /// `names` are the host names and addresses under which the server can be reached, without a port. `tls` is true if
  /// the server uses TLS. `control_token` gives a request the role kControl, and `watch_token` gives it the role
  /// kWatch.
  Gatekeeper(std::vector<std::string> names, std::uint16_t port, bool tls, std::string control_token,
             std::string watch_token);

  /// Decides whether a request is admitted. `origins` are the foreign origins that the path permits; "*" permits all
  /// pages that give the token in the address, because such a page must know the token. `needs_origin` must be true for
  /// a WebSocket. A request without an origin is then refused, unless it contains the token in the address or as a
  /// bearer token, because browsers always send an origin when they request a WebSocket, and other programs can give
  /// the token themselves.
  Verdict judge(const Approach& approach, bool needs_origin, const std::vector<std::string>& origins = {}) const;

  /// Returns the name of the cookie that contains the token. The name includes the port, because browsers send the
  /// cookies of one host to all of its ports.
  std::string cookie_name() const;
  /// Returns the token of a role.
  const std::string& token(Role role) const { return role == Role::kControl ? control_token_ : watch_token_; }

 private:
  bool knows_host(const std::string& host) const;
  bool is_own_origin(const std::string& origin, const std::string& host) const;
  std::optional<Role> role_of(const std::string& token) const;
  std::optional<Role> role_of(const Approach& approach) const;

  std::vector<std::string> names_;
  std::uint16_t port_;
  bool tls_;
  std::string control_token_;
  std::string watch_token_;
};

}  // namespace trainyard::web
