// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/client.h"

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "components/foxglove/parameters.h"
#include "components/foxglove/protocol.h"
#include "core/config/bounded_json.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"

namespace trainyard::foxglove {
namespace {

using nlohmann::json;

/// Returns the list `key` of a message. Throws kInvalidArgument if the message has no such list.
const json& list_in(const json& message, const char* key) {
  const auto found = message.find(key);
  if (found != message.end() && found->is_array()) return *found;
  throw Error(Code::kInvalidArgument, "the message has no list '{}'", key);
}

/// Returns the number of a channel or a subscription. Throws kInvalidArgument if the value is not such a number.
std::uint32_t number_in(const json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max()) {
    return value.get<std::uint32_t>();
  }
  throw Error(Code::kInvalidArgument, "'{}' is not allowed as a number of a channel or a subscription",
              value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 40));
}

std::uint32_t number_in(const json& object, const char* key) {
  return number_in(object.is_object() ? object.value(key, json()) : json());
}

/// Returns the beginning of a text that a client has sent, for an error message.
std::string shortened(std::string_view text) { return printable_line(text.substr(0, 40)); }

std::vector<std::string> names_in(const json& message) {
  std::vector<std::string> names;
  for (const json& name : list_in(message, "parameterNames")) {
    if (!name.is_string()) {
      throw Error(Code::kInvalidArgument, "the name of a parameter is {}, not a text",
                  shortened(name.dump(-1, ' ', true, json::error_handler_t::replace)));
    }
    names.push_back(name.get<std::string>());
  }
  return names;
}

/// Returns the messages that answer a request to read or set parameters.
std::vector<std::string> texts_of(const ParameterAnswer& answer, const json& id) {
  std::vector<std::string> texts;
  for (const std::string& refusal : answer.refusals) texts.push_back(status(StatusLevel::kError, refusal));
  texts.push_back(parameter_values(answer.values, id));
  return texts;
}

/// Returns the body of a service call. Throws kInvalidArgument if it is not a JSON object.
json body_of(const ServiceRequest& request) {
  if (request.encoding != kEncoding) {
    throw Error(Code::kInvalidArgument, "the encoding of a call is '{}'; only '{}' is allowed",
                request.encoding.substr(0, 40), kEncoding);
  }
  if (request.payload.empty()) return json::object();
  auto body = parse_bounded_json(request.payload);
  if (!body || !body->is_object()) {
    throw Error(Code::kInvalidArgument, "the call is not a JSON object: {}", shortened(request.payload));
  }
  return *std::move(body);
}

}  // namespace

Client::Client(web::Channel& channel, Clients& clients, Errands& errands, const std::string& server_info)
    : channel_(channel), clients_(clients), errands_(errands), id_(clients.add(channel, server_info)) {}

Client::~Client() { clients_.remove(id_); }

void Client::on_message(std::string_view message, bool binary) {
  try {
    binary ? on_service_request(message) : on_text(message);
  } catch (const std::exception& error) {
    refuse(error.what());
  }
}

void Client::refuse(const std::string& reason) { channel_.answer(status(StatusLevel::kError, reason)); }

void Client::on_text(std::string_view text) {
  const auto message = parse_bounded_json(text);
  if (!message || !message->is_object()) {
    throw Error(Code::kInvalidArgument, "the message is not a JSON object: {}", shortened(text));
  }
  const std::map<std::string, std::function<void()>> operations{
      {"subscribe", [&] { on_subscribe(*message); }},
      {"unsubscribe", [&] { on_unsubscribe(*message); }},
      {"getParameters", [&] { on_get_parameters(*message); }},
      {"setParameters", [&] { on_set_parameters(*message); }},
      {"subscribeParameterUpdates", [&] { on_watch_parameters(*message, true); }},
      {"unsubscribeParameterUpdates", [&] { on_watch_parameters(*message, false); }},
      {"subscribeConnectionGraph", [&] { clients_.watch_graph(id_, true); }},
      {"unsubscribeConnectionGraph", [&] { clients_.watch_graph(id_, false); }}};
  const json op = message->value("op", json());
  const std::string name = op.is_string() ? op.get<std::string>().substr(0, 40) : "";
  const auto found = operations.find(name);
  if (found != operations.end()) return found->second();
  std::vector<std::string> known;
  for (const auto& [each, function] : operations) known.push_back(each);
  throw Error(Code::kInvalidArgument, "there is no operation '{}' here{}", name, suggestion(name, known));
}

// If one of several subscriptions is refused, the others are still accepted.
void Client::on_subscribe(const json& message) {
  for (const json& each : list_in(message, "subscriptions")) {
    try {
      clients_.subscribe(id_, number_in(each, "id"), number_in(each, "channelId"));
    } catch (const Error& error) {
      refuse(error.what());
    }
  }
}

void Client::on_unsubscribe(const json& message) {
  for (const json& each : list_in(message, "subscriptionIds")) {
    try {
      clients_.unsubscribe(id_, number_in(each));
    } catch (const Error& error) {
      refuse(error.what());
    }
  }
}

void Client::on_get_parameters(const json& message) {
  ask([&clients = clients_, client = id_, names = names_in(message),
       id = message.value("id", json())](visitors::RegistryClient& registry) {
    std::vector<std::string> texts;
    try {
      texts = texts_of(read_parameters(registry, clients.parameter_owners(), names), id);
    } catch (const std::exception& error) {
      texts = {status(StatusLevel::kError, error.what())};
    }
    clients.end_request(client, std::move(texts));
  });
}

void Client::on_set_parameters(const json& message) {
  require_control();
  ask([&clients = clients_, client = id_, parameters = list_in(message, "parameters"),
       id = message.value("id", json())](visitors::RegistryClient& registry) {
    std::vector<std::string> texts;
    try {
      const ParameterAnswer answer = set_parameters(registry, parameters);
      clients.tell_parameters(answer.values, /*just_set=*/true);
      texts = texts_of(answer, id);
    } catch (const std::exception& error) {
      texts = {status(StatusLevel::kError, error.what())};
    }
    clients.end_request(client, std::move(texts));
  });
}

void Client::on_watch_parameters(const json& message, bool watch) {
  clients_.watch_parameters(id_, names_in(message), watch);
}

// If a call fails, the answer is a service failure rather than a status message, because the client waits for an answer
// to this call.
void Client::on_service_request(std::string_view message) {
  const ServiceRequest request = read_service_request(message);
  try {
    require_control();
    const Service service = clients_.service(request.service);
    ask([&clients = clients_, client = id_, service, call = request.call,
         body = body_of(request)](visitors::RegistryClient& registry) {
      try {
        const json result = registry.call(service.component, service.method, body);
        const std::string text = result.dump(-1, ' ', false, json::error_handler_t::replace);
        clients.end_request(client, {}, service_response(service.id, call, text));
      } catch (const std::exception& error) {
        clients.end_request(client, {service_failure(service.id, call, error.what())});
      }
    });
  } catch (const Error& error) {
    channel_.answer(service_failure(request.service, request.call, error.what()));
  }
}

void Client::ask(Errands::Errand errand) {
  clients_.begin_request(id_);
  try {
    errands_.post(std::move(errand));
  } catch (...) {
    clients_.end_request(id_, {});
    throw;
  }
}

void Client::require_control() const {
  if (channel_.role() == web::Role::kControl) return;
  throw Error(Code::kInvalidArgument,
              std::string("this address may only watch; use the address with the token for control to change the run"));
}

}  // namespace trainyard::foxglove
