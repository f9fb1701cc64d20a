// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/plugin/plugin_info.h"

namespace trainyard::launch {

/// The interface through which the planner gets information about plugins. ScannedCatalogue implements it for real
/// plugins; tests use a fake.
class Catalogue {
 public:
  /// What a plugin reports about itself when it is constructed with certain parameters.
  struct Answer {
    core::PluginTraits traits;  ///< The traits for these parameters.
    std::string objection;      ///< Why the parameters contradict each other; empty if they do not.
  };

  virtual ~Catalogue() = default;

  /// Returns the declaration of the plugin `name` of the kind `kind`, such as "model". The reference is valid as long
  /// as the catalogue exists. Throws kNotFound if there is no such plugin; the error suggests the most similar name.
  virtual const core::PluginInfo& info(std::string_view kind, std::string_view name) = 0;

  /// Returns the labels (kind, name, version and so on) of all plugins in the catalogue.
  virtual std::vector<PluginLabel> list() = 0;

  /// Returns what a plugin reports when it is constructed with `parameters`, a JSON object. The answer can come from
  /// the cache of an earlier launch, unless `anew` is true. Throws the errors of info(), and kPluginLoad if the plugin
  /// cannot be constructed with these parameters or declares invalid traits.
  virtual Answer ask(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) = 0;

  /// Returns the traits from the answer of ask(). `Traits` is the type of the traits of one kind of plugin, such as
  /// StrategyTraits, and determines the kind.
  template <class Traits>
  Traits traits(std::string_view name, const std::string& parameters, bool anew = false) {
    return std::get<Traits>(ask(Traits::kPluginKind, name, parameters, anew).traits.of_kind);
  }
};

}  // namespace trainyard::launch
