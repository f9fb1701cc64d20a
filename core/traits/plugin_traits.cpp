// SPDX-License-Identifier: Apache-2.0
#include "core/traits/plugin_traits.h"

#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/json.h"

namespace trainyard::core {

using nlohmann::json;

namespace {

// Calls `found` with a default-constructed alternative of PluginTraits::of_kind that belongs to the kind, if there is
// one. A new kind therefore only needs a new alternative.
template <std::size_t Index = 1, class Found>
void find_kind(std::string_view kind, const Found& found) {
  using Alternatives = decltype(PluginTraits::of_kind);
  if constexpr (Index < std::variant_size_v<Alternatives>) {
    using Traits = std::variant_alternative_t<Index, Alternatives>;
    if (kind == Traits::kPluginKind) return found(Traits{});
    find_kind<Index + 1>(kind, found);
  }
}

json to_json_of(std::monostate) { return nullptr; }

template <class Traits>
json to_json_of(const Traits& traits) {
  return json::parse(trainyard::to_json(traits));
}

/// Throws kPluginLoad if a field of `wanted` is missing from `given`. The conversion of JSON to a message does not
/// detect this: it treats a missing field as empty.
void check_complete(const json& given, const json& wanted, const std::string& plugin) {
  for (const auto& [name, value] : wanted.items()) {
    if (!given.contains(name)) throw Error(Code::kPluginLoad, "{} does not declare its trait '{}'", plugin, name);
    if (value.is_object()) check_complete(given[name], value, plugin);
  }
}

template <class Traits>
Traits from_json_of(const json& given, const std::string& plugin) {
  check_complete(given, to_json_of(Traits{}), plugin);
  try {
    return from_json<Traits>(given.dump());
  } catch (const Error& error) {
    throw Error(Code::kPluginLoad, "{} declares traits that are not allowed: {}", plugin, error.what());
  }
}

}  // namespace

json to_json(const PluginTraits& traits) {
  return std::visit([](const auto& of_kind) { return to_json_of(of_kind); }, traits.of_kind);
}

PluginTraits plugin_traits_from_json(std::string_view kind, const json& given, const std::string& plugin) {
  PluginTraits traits;
  find_kind(kind,
            [&](const auto& none) { traits.of_kind = from_json_of<std::decay_t<decltype(none)>>(given, plugin); });
  return traits;
}

PluginTraits default_traits(std::string_view kind) {
  PluginTraits traits;
  find_kind(kind, [&](const auto& none) { traits.of_kind = none; });
  return traits;
}

}  // namespace trainyard::core
