// SPDX-License-Identifier: Apache-2.0
#include "environments/meeting_address.h"

#include <algorithm>
#include <optional>

#include "environments/host_name.h"
#include "environments/variable_reader.h"
#include "messages/error.h"

namespace trainyard::environments {

MeetingPlace parse_meeting_address(std::string_view text, const std::string& where, std::string_view source) {
  const auto refuse = [&]() -> Error {
    return Error(Code::kInvalidArgument, "{}: {} is {}; allowed: HOST or HOST:PORT, such as node1 or [fd00::1]:29500",
                 where, source, shown(text));
  };
  std::string_view host = text, port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == text.npos) throw refuse();
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
  } else if (std::ranges::count(text, ':') == 1) {
    host = text.substr(0, text.find(':'));
    port = text.substr(host.size());
  }
  MeetingPlace place{std::string(host), {}};
  if (!port.empty()) {
    const std::optional<std::uint32_t> number =
        port.front() == ':' ? parse_number(port.substr(1), 1, 65535) : std::nullopt;
    if (!number) throw refuse();
    place.ports = {static_cast<std::uint16_t>(*number)};
  }
  if (host.empty()) throw refuse();
  check_host_name(host, where);
  return place;
}

}  // namespace trainyard::environments
