// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/parameters.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "messages/error.h"
#include "visitors/json_fields.h"

namespace trainyard::foxglove {
namespace {

using nlohmann::json;
using visitors::text_in;

/// Splits "/rank0/optimizer/lr" into the component and the parameter. Names of parameters contain no slashes.
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (name.empty() || name.front() != '/' || slash == 0) {
    throw Error(Code::kInvalidArgument, "there is no parameter '{}'; names have the form /COMPONENT/PARAMETER", name);
  }
  return {name.substr(1, slash - 1), name.substr(slash + 1)};
}

/// Returns a parameter in the form of the Foxglove protocol. A floating-point parameter can have a value such as 1, so
/// its type is given explicitly.
json described(const std::string& component, const json& declaration) {
  json parameter = {{"name", fmt::format("/{}/{}", component, text_in(declaration, "name"))}};
  const auto value = declaration.find("value");
  if (value != declaration.end() && !value->is_null()) parameter["value"] = *value;
  const std::string kind = text_in(declaration, "kind");
  if (kind == "number" && value != declaration.end() && value->is_number()) parameter["type"] = "float64";
  if (kind == "list of numbers") parameter["type"] = "float64_array";
  return parameter;
}

/// Calls `action`, and adds an error to the refusals of the answer. Only if the launcher does not answer (kTimeout),
/// the error is thrown, because the whole request has then failed.
void attempt(ParameterAnswer& answer, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() == Code::kTimeout) throw;
    answer.refusals.emplace_back(error.what());
  }
}

void read_one(visitors::RegistryClient& registry, const std::string& name, ParameterAnswer& answer) {
  const auto [component, parameter] = split(name);
  answer.values.push_back(described(component, registry.call(component, "param.get", {{"name", parameter}})));
}

void set_one(visitors::RegistryClient& registry, const json& given, ParameterAnswer& answer) {
  const std::string name = given.is_object() ? text_in(given, "name") : "";
  const auto [component, parameter] = split(name);
  if (!given.contains("value")) {
    throw Error(Code::kInvalidArgument, "{}: a parameter of a run cannot be removed, only changed", name);
  }
  if (text_in(given, "type") == "byte_array") {
    throw Error(Code::kInvalidArgument, "{}: no parameter of a run is a list of bytes", name);
  }
  const json body = {{"name", parameter}, {"value", given["value"]}};
  answer.values.push_back(described(component, registry.call(component, "param.set", body)));
}

}  // namespace

ParameterAnswer read_parameters(visitors::RegistryClient& registry, const std::vector<std::string>& owners,
                                const std::vector<std::string>& names) {
  ParameterAnswer answer;
  for (const std::string& name : names) attempt(answer, [&] { read_one(registry, name, answer); });
  if (!names.empty()) return answer;
  for (const std::string& owner : owners) {
    attempt(answer, [&] {
      for (const json& declaration : registry.call(owner, "param.list")) {
        if (declaration.is_object()) answer.values.push_back(described(owner, declaration));
      }
    });
  }
  return answer;
}

// If a value was refused, the answer contains the value that the parameter still has.
ParameterAnswer set_parameters(visitors::RegistryClient& registry, const json& parameters) {
  ParameterAnswer answer;
  for (const json& given : parameters) {
    const std::size_t refused = answer.refusals.size();
    attempt(answer, [&] { set_one(registry, given, answer); });
    if (answer.refusals.size() == refused || !given.is_object()) continue;
    ParameterAnswer now;
    attempt(now, [&] { read_one(registry, text_in(given, "name"), now); });
    for (json& value : now.values) answer.values.push_back(std::move(value));
  }
  return answer;
}

}  // namespace trainyard::foxglove
