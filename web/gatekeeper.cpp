// SPDX-License-Identifier: Apache-2.0
#include "web/gatekeeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "web/token.h"

namespace trainyard::web {
namespace {

constexpr std::string_view kBearer = "Bearer ";

bool equal_letters(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(left, right, {}, lower, lower);
}

/// Returns the value of the cookie `name` in a field such as "a=1; b=2", or an empty text if it is missing.
std::string cookie_value(std::string_view field, std::string_view name) {
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(';'), field.size());
    std::string_view one = field.substr(0, end);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.size() > name.size() && one.substr(0, name.size()) == name && one[name.size()] == '=') {
      return std::string(one.substr(name.size() + 1));
    }
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return {};
}

}  // namespace

Gatekeeper::Gatekeeper(std::vector<std::string> names, std::uint16_t port, bool tls, std::string control_token,
                       std::string watch_token)
    : names_(std::move(names)),
      port_(port),
      tls_(tls),
      control_token_(std::move(control_token)),
      watch_token_(std::move(watch_token)) {}

Verdict Gatekeeper::judge(const Approach& approach, bool needs_origin, const std::vector<std::string>& origins) const {
  if (!knows_host(approach.host)) {
    return {{}, "This server does not answer under the name that the request gives (Host)."};
  }
  // A program that is not a browser sends no origin, but then it must give the token itself. A browser sends cookies
  // without being asked, but it always sends the origin with a WebSocket.
  const bool gives_token = !approach.token.empty() || !approach.authorization.empty();
  const auto permitted = [&](std::string_view origin) { return std::ranges::find(origins, origin) != origins.end(); };
  const bool foreign = approach.origin && !is_own_origin(*approach.origin, approach.host) &&
                       !permitted(*approach.origin) && !(permitted("*") && !approach.token.empty());
  if (foreign) return {{}, "This server does not answer to pages of other sites (Origin)."};
  if (needs_origin && !approach.origin && !gives_token) {
    return {{}, "A WebSocket without an Origin must give the token in its address."};
  }
  if (const std::optional<Role> role = role_of(approach)) return {role, {}};
  return {{}, "The token is missing or wrong. Open the address that was printed when the server started."};
}

std::string Gatekeeper::cookie_name() const { return fmt::format("trainyard_{}", port_); }

bool Gatekeeper::knows_host(const std::string& host) const {
  return std::ranges::any_of(names_, [&](const std::string& name) {
    if (equal_letters(host, fmt::format("{}:{}", name, port_))) return true;
    // Browsers leave out the default port of the scheme.
    return port_ == (tls_ ? 443 : 80) && equal_letters(host, name);
  });
}

bool Gatekeeper::is_own_origin(const std::string& origin, const std::string& host) const {
  return equal_letters(origin, (tls_ ? "https://" : "http://") + host);
}

std::optional<Role> Gatekeeper::role_of(const std::string& token) const {
  // Both tokens are always compared, so that the time does not reveal which one matched.
  const bool control = equal_in_constant_time(token, control_token_);
  const bool watch = equal_in_constant_time(token, watch_token_);
  if (control) return Role::kControl;
  if (watch) return Role::kWatch;
  return {};
}

// The first of address, header and cookie that contains a token decides. So a wrong token in the address is refused,
// even if the cookie is valid.
std::optional<Role> Gatekeeper::role_of(const Approach& approach) const {
  if (!approach.token.empty()) return role_of(approach.token);
  if (std::string_view(approach.authorization).substr(0, kBearer.size()) == kBearer) {
    return role_of(approach.authorization.substr(kBearer.size()));
  }
  return role_of(cookie_value(approach.cookie, cookie_name()));
}

}  // namespace trainyard::web
