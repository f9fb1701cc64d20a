// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "components/foxglove/offer.h"

namespace trainyard::foxglove {

// Functions that write and read the messages of the Foxglove WebSocket protocol
// (https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md). Text messages are JSON, and binary messages begin
// with one byte for their kind.

inline constexpr const char* kSubprotocol = "foxglove.websocket.v1";
/// The encoding of all payloads.
inline constexpr const char* kEncoding = "json";

enum class StatusLevel : std::uint8_t { kInfo, kWarning, kError };

/// Returns the first message that a client gets. `name` is the name that clients show for the server. If `may_change`
/// is false, the client is not offered services, because every call could change the run. `session` must differ between
/// instances of the server, so that a client notices that the server has been restarted.
std::string server_info(const std::string& name, bool may_change, const std::string& session);
/// Returns a status message, which the client shows to its user. It replaces an earlier status message with the same
/// `id`, unless `id` is empty.
std::string status(StatusLevel level, const std::string& text, const std::string& id = "");
std::string advertise(std::span<const Channel> channels);
std::string unadvertise(const std::vector<std::uint32_t>& ids);
std::string advertise_services(std::span<const Service> services);
std::string unadvertise_services(const std::vector<std::uint32_t>& ids);
/// Returns a message with the values of parameters. `values` is a list in the format of the Foxglove protocol. `id` is
/// the id of the request that this message answers, or null.
std::string parameter_values(const nlohmann::json& values, const nlohmann::json& id);
std::string service_failure(std::uint32_t service, std::uint32_t call, const std::string& reason);
/// Returns a message with the differences between two graphs, or an empty string if there are none.
std::string graph_update(const Graph& before, const Graph& after);

/// Returns the binary message that carries a message of the run to the subscription `subscription`. `payload` is the
/// message of the run as JSON, and `time_ns` is when it was sent.
std::string message_data(std::uint32_t subscription, std::uint64_t time_ns, std::string_view payload);
std::string time_message(std::uint64_t time_ns);
std::string service_response(std::uint32_t service, std::uint32_t call, std::string_view payload);

/// A service call of a client. The views refer to the received message.
struct ServiceRequest {
  std::uint32_t service = 0;
  std::uint32_t call = 0;
  std::string_view encoding;
  std::string_view payload;
};
/// Reads a binary message of a client. Throws kInvalidArgument if the message is not a complete service call.
ServiceRequest read_service_request(std::string_view bytes);

}  // namespace trainyard::foxglove
