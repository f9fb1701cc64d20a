// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/protocol.h"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "messages/error.h"

namespace trainyard::foxglove {
namespace {

using nlohmann::json;

/// The possible first bytes of binary messages from the server and from clients.
enum class ServerBinary : std::uint8_t { kMessageData = 1, kTime = 2, kServiceResponse = 3 };
enum class ClientBinary : std::uint8_t { kMessageData = 1, kServiceRequest = 2 };

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

template <class T>
void append_number(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string begin_binary(ServerBinary kind, std::size_t more) {
  std::string bytes;
  bytes.reserve(1 + more);
  bytes += static_cast<char>(kind);
  return bytes;
}

std::uint32_t read_number(std::string_view& bytes) {
  if (bytes.size() < 4) {
    throw Error(Code::kInvalidArgument, "the call of a service is cut off: {} of the 4 bytes of a number",
                bytes.size());
  }
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  bytes.remove_prefix(4);
  return value;
}

json definition(const TypeSchema& type) {
  return {{"encoding", kEncoding}, {"schemaName", type.name}, {"schemaEncoding", "jsonschema"}, {"schema", type.text}};
}

/// Returns the entries of `after` that are new or different from `before`, and adds the names that are no longer in
/// `after` to `removed`.
json changes(const Ends& before, const Ends& after, const char* key, json& removed) {
  json list = json::array();
  for (const auto& [name, ids] : after) {
    const auto known = before.find(name);
    if (known == before.end() || known->second != ids) list.push_back({{"name", name}, {key, ids}});
  }
  for (const auto& [name, ids] : before) {
    if (!after.contains(name)) removed.push_back(name);
  }
  return list;
}

}  // namespace

std::string server_info(const std::string& name, bool may_change, const std::string& session) {
  json capabilities = {"time", "parameters", "parametersSubscribe", "connectionGraph"};
  if (may_change) capabilities.push_back("services");
  return dump({{"op", "serverInfo"},
               {"name", name},
               {"capabilities", std::move(capabilities)},
               {"supportedEncodings", {kEncoding}},
               {"metadata", {{"trainyard", TRAINYARD_VERSION}, {"role", may_change ? "control" : "watch"}}},
               {"sessionId", session}});
}

std::string status(StatusLevel level, const std::string& text, const std::string& id) {
  json message = {{"op", "status"}, {"level", static_cast<int>(level)}, {"message", text}};
  if (!id.empty()) message["id"] = id;
  return dump(message);
}

std::string advertise(std::span<const Channel> channels) {
  json list = json::array();
  for (const Channel& channel : channels) {
    list.push_back({{"id", channel.id},
                    {"topic", channel.topic},
                    {"encoding", kEncoding},
                    {"schemaName", channel.type.name},
                    {"schema", channel.type.text},
                    {"schemaEncoding", "jsonschema"}});
  }
  return dump({{"op", "advertise"}, {"channels", std::move(list)}});
}

std::string unadvertise(const std::vector<std::uint32_t>& ids) {
  return dump({{"op", "unadvertise"}, {"channelIds", ids}});
}

std::string advertise_services(std::span<const Service> services) {
  json list = json::array();
  for (const Service& service : services) {
    list.push_back({{"id", service.id},
                    {"name", service.name},
                    {"type", service.name},
                    {"request", definition(service.request)},
                    {"response", definition(service.reply)}});
  }
  return dump({{"op", "advertiseServices"}, {"services", std::move(list)}});
}

std::string unadvertise_services(const std::vector<std::uint32_t>& ids) {
  return dump({{"op", "unadvertiseServices"}, {"serviceIds", ids}});
}

std::string parameter_values(const json& values, const json& id) {
  json message = {{"op", "parameterValues"}, {"parameters", values}};
  if (!id.is_null()) message["id"] = id;
  return dump(message);
}

std::string service_failure(std::uint32_t service, std::uint32_t call, const std::string& reason) {
  return dump({{"op", "serviceCallFailure"}, {"serviceId", service}, {"callId", call}, {"message", reason}});
}

// `publishers` and `subscribers` of a graph contain the same topics, so the second list of removed topics is not
// needed.
std::string graph_update(const Graph& before, const Graph& after) {
  json removed_topics = json::array(), removed_services = json::array(), removed_again = json::array();
  json published = changes(before.publishers, after.publishers, "publisherIds", removed_topics);
  json subscribed = changes(before.subscribers, after.subscribers, "subscriberIds", removed_again);
  json services = changes(before.providers, after.providers, "providerIds", removed_services);
  if (published.empty() && subscribed.empty() && services.empty() && removed_topics.empty() &&
      removed_services.empty()) {
    return {};
  }
  return dump({{"op", "connectionGraphUpdate"},
               {"publishedTopics", std::move(published)},
               {"subscribedTopics", std::move(subscribed)},
               {"advertisedServices", std::move(services)},
               {"removedTopics", std::move(removed_topics)},
               {"removedServices", std::move(removed_services)}});
}

std::string message_data(std::uint32_t subscription, std::uint64_t time_ns, std::string_view payload) {
  std::string bytes = begin_binary(ServerBinary::kMessageData, 12 + payload.size());
  append_number(bytes, subscription);
  append_number(bytes, time_ns);
  bytes += payload;
  return bytes;
}

std::string time_message(std::uint64_t time_ns) {
  std::string bytes = begin_binary(ServerBinary::kTime, 8);
  append_number(bytes, time_ns);
  return bytes;
}

std::string service_response(std::uint32_t service, std::uint32_t call, std::string_view payload) {
  const std::string_view encoding = kEncoding;
  std::string bytes = begin_binary(ServerBinary::kServiceResponse, 12 + encoding.size() + payload.size());
  append_number(bytes, service);
  append_number(bytes, call);
  append_number(bytes, static_cast<std::uint32_t>(encoding.size()));
  bytes += encoding;
  bytes += payload;
  return bytes;
}

ServiceRequest read_service_request(std::string_view bytes) {
  if (bytes.empty() || static_cast<ClientBinary>(bytes.front()) != ClientBinary::kServiceRequest) {
    throw Error(Code::kInvalidArgument,
                "of all binary messages, only calls of services (opcode {}) are understood here",
                static_cast<int>(ClientBinary::kServiceRequest));
  }
  bytes.remove_prefix(1);
  ServiceRequest request;
  request.service = read_number(bytes);
  request.call = read_number(bytes);
  const std::uint32_t length = read_number(bytes);
  if (length > bytes.size()) {
    throw Error(Code::kInvalidArgument, "the call of a service is cut off: {} of the {} bytes of its encoding",
                bytes.size(), length);
  }
  request.encoding = bytes.substr(0, length);
  request.payload = bytes.substr(length);
  return request;
}

}  // namespace trainyard::foxglove
