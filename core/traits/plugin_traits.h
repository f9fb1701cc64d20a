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

/// What a plugin declares about itself besides its parameters and ports, by its kind. Kinds without traits of their own
/// have none.
struct PluginTraits {
  std::variant<std::monostate, ComponentTraits, AcceleratorReport, StrategyTraits, DatasetTraits, ModelTraits> of_kind;
};

/// Converts traits to JSON, which is null if there are none. In this form they travel from the process that loaded the
/// plugin to whoever asked, and `trainyard plugin info --json` shows them.
nlohmann::json to_json(const PluginTraits& traits);

/// The inverse of to_json() for a plugin of this kind. Throws kPluginLoad for traits that lack a field, have one that
/// is not known, or hold a value that is not allowed; the error begins with `plugin`, such as "strategy 'ddp'".
PluginTraits plugin_traits_from_json(std::string_view kind, const nlohmann::json& json, const std::string& plugin);

/// Returns the traits of a plugin of this kind that declares none.
PluginTraits default_traits(std::string_view kind);

}  // namespace trainyard::core
