// SPDX-License-Identifier: Apache-2.0
#include "core/config/configurable.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/traits/plugin_traits.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {

using nlohmann::json;

// The text is valid JSON, because the launcher has made it from checked values.
Configurable::Configurable(std::string where, std::string_view given)
    : where_(std::move(where)),
      given_(std::make_unique<json>(given.empty() ? json::object() : json::parse(given))),
      describing_(given.empty()) {
  if (!given_->is_object())
    throw Error(Code::kInvalidArgument, "{}: parameters are not a table: {}", where_, given_->dump());
}

Configurable::~Configurable() = default;

core::PluginTraits Configurable::declared_traits() const { return {}; }

ParameterBase* Configurable::find_parameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, [](const ParameterBase* p) { return p->info().name; });
  return found == parameters_.end() ? nullptr : *found;
}

namespace {

std::vector<std::string> names(std::span<ParameterBase* const> parameters) {
  std::vector<std::string> all;
  for (const ParameterBase* parameter : parameters) all.push_back(parameter->info().name);
  return all;
}

}  // namespace

// The search is linear, because there are few parameters and this runs only once.
void Configurable::check_all_given_are_known() const {
  for (const auto& [name, value] : given_->items()) {
    if (find_parameter(name) != nullptr) continue;
    throw Error(Code::kInvalidArgument, "{} has no parameter '{}'{}", where_, name,
                suggestion(name, names(parameters_)));
  }
}

void Configurable::set_parameter(std::string_view name, const json& value) {
  ParameterBase* parameter = find_parameter(name);
  if (parameter == nullptr) {
    throw Error(Code::kNotFound, "{} has no parameter '{}'{}", where_, name, suggestion(name, names(parameters_)));
  }
  // A parameter that exists but is not settable has a separate error, which tells the user where to set it.
  if (!parameter->info().rules.settable) {
    throw Error(Code::kUnsupported, "{}: '{}' cannot be changed while running; give it in the launch file", where_,
                name);
  }
  // The value is checked and stored before the callback is called: the callback sees the new value, and a refused value
  // changes nothing.
  parameter->assign(value);
  parameter->notify_changed();
}

}  // namespace trainyard
