// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "core/traits/accelerator_traits.h"
#include "core/traits/component_traits.h"
#include "core/traits/sample_traits.h"
#include "core/traits/strategy_traits.h"

namespace trainyard::core {

/// The traits of a plugin of any kind: what it declares, in addition to its parameters and ports, for the planner,
/// which makes the plan of a run from a launch file. The kind of the plugin determines the type in `of_kind`;
/// std::monostate stands for a kind that has no traits.
struct PluginTraits {
  std::variant<std::monostate, ComponentTraits, AcceleratorReport, StrategyTraits, DatasetTraits, ModelTraits> of_kind;
};

/// Converts traits to JSON, which is null if there are none. In this form, the process that has loaded the plugin sends
/// the traits to the process that asked for them, and `trainyard plugin info --json` shows them.
nlohmann::json to_json(const PluginTraits& traits);

/// Converts JSON back to the traits of a plugin of this kind. Throws kPluginLoad if a field is missing or unknown, or
/// if a value is not allowed; the error begins with `plugin`, such as "strategy 'ddp'".
PluginTraits plugin_traits_from_json(std::string_view kind, const nlohmann::json& json, const std::string& plugin);

/// Returns the traits of a plugin of this kind that does not declare any.
PluginTraits default_traits(std::string_view kind);

}  // namespace trainyard::core
