// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/offer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "messages/error.h"
#include "messages/schema.h"
#include "visitors/json_fields.h"

namespace trainyard::foxglove {
namespace {

using nlohmann::json;
using visitors::text_in;

const json& list_of(const json& object, const char* key) {
  static const json none = json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : none;
}

/// Converts a schema of the wire format. Returns nothing if the text is not a valid schema.
std::optional<TypeSchema> type_of(const std::string& schema_text) {
  try {
    const Schema schema = parse_schema(schema_text);
    return TypeSchema{schema.structs.at(0).name, to_json_schema(schema)};
  } catch (const Error&) {
    return {};
  }
}

/// Returns a type that allows any object, for a service whose type the registry does not describe.
TypeSchema any_object() { return {"object", R"({"type": "object"})"}; }

/// Returns the names of the publishers or subscribers of a topic: components or, for the log, processes.
std::vector<std::string> ends_of(const json& ends) {
  std::vector<std::string> names;
  for (const json& end : ends) {
    if (!end.is_object()) continue;
    std::string name = text_in(end, "component");
    if (name.empty()) name = text_in(end, "process");
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// Returns the name under which a component is offered: its name without the rank. Returns nothing for ranks other than
/// 0.
std::optional<std::string> offered_name(const json& node) {
  const std::string name = text_in(node, "component");
  const std::string prefix = fmt::format("rank{}/", visitors::count_in(node, "rank").value_or(0));
  if (name.rfind(prefix, 0) != 0) return name;
  if (prefix != "rank0/") return {};
  return name.substr(prefix.size());
}

}  // namespace

Offer OfferMaker::make(const json& topics, const json& nodes) {
  Offer offer;
  for (const json& topic : topics) {
    if (topic.is_object()) add_topic(topic, offer);
  }
  for (const json& node : nodes) {
    if (node.is_object()) add_node(node, offer);
  }
  return offer;
}

void OfferMaker::add_topic(const json& topic, Offer& offer) {
  const std::string name = text_in(topic, "topic");
  const auto type = type_of(text_in(topic, "schema"));
  if (name.empty() || !type) return;
  const auto latched = topic.find("latched");
  offer.channels.push_back(
      {id_of(name, type->text), name, *type, latched != topic.end() && latched->is_boolean() && latched->get<bool>()});
  offer.graph.publishers[name] = ends_of(list_of(topic, "publishers"));
  offer.graph.subscribers[name] = ends_of(list_of(topic, "subscribers"));
}

// Nodes without a plugin are external programs, which have no parameters.
void OfferMaker::add_node(const json& node, Offer& offer) {
  const auto name = offered_name(node);
  if (!name || text_in(node, "plugin").empty()) return;
  offer.parameter_owners.push_back(*name);
  const json& described = list_of(node, "service_types");
  const json& services = described.empty() ? list_of(node, "services") : described;
  for (const json& service : services) add_service(*name, service, offer);
}

// A current launcher describes a service by an object with the schemas of its request and reply, an older launcher by
// its name only.
void OfferMaker::add_service(const std::string& component, const json& service, Offer& offer) {
  const bool described = service.is_object();
  Service made{.component = component,
               .method = described             ? text_in(service, "service")
                         : service.is_string() ? service.get<std::string>()
                                               : "",
               .request = any_object(),
               .reply = any_object()};
  if (made.method.empty()) return;
  if (described) {
    made.request = type_of(text_in(service, "request")).value_or(any_object());
    made.reply = type_of(text_in(service, "reply")).value_or(any_object());
  }
  made.name = fmt::format("/{}/{}", component, made.method);
  made.id = id_of(made.name, made.request.text + made.reply.text);
  offer.graph.providers[made.name] = {component};
  offer.services.push_back(std::move(made));
}

std::uint32_t OfferMaker::id_of(const std::string& name, const std::string& schema) {
  const auto next = static_cast<std::uint32_t>(ids_.size() + 1);
  return ids_.try_emplace({name, schema}, next).first->second;
}

}  // namespace trainyard::foxglove
