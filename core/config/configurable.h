// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/parameter.h"

namespace trainyard::core {
struct PluginTraits;
}  // namespace trainyard::core

namespace trainyard {

/// The base class of everything that has parameters, and therefore of all plugins. Parameters are members of the
/// derived class and register themselves here during construction. This is why a Configurable can be neither copied nor
/// moved.
class Configurable {
 public:
  /// `given` is the text of a JSON object with the values from the launch file; its keys are the names of the
  /// parameters. If `given` is an empty string (not "{}"), the object is constructed only so that a tool can read the
  /// declarations of its parameters. `where` names the plugin in errors. Throws kInvalidArgument if `given` is JSON but
  /// not an object. If it is not JSON, the JSON library throws its own exception.
  Configurable(std::string where, std::string_view given);
  virtual ~Configurable();
  Configurable(const Configurable&) = delete;
  Configurable& operator=(const Configurable&) = delete;

  /// Returns the parameters in the order of declaration.
  std::span<ParameterBase* const> parameters() const { return parameters_; }

  /// Returns the parameter with this name, or null if there is none.
  ParameterBase* find_parameter(std::string_view name) const;

  /// Throws kInvalidArgument if a value was given for a parameter that is not declared; the error suggests the nearest
  /// declared name. Call this function when all parameters have been declared.
  void check_all_given_are_known() const;

  /// Changes a parameter of a running component, and calls the parameter's callback (ParameterBase::on_change). Throws
  /// kNotFound for an unknown name, kInvalidArgument for a value that is not allowed, and kUnsupported for a parameter
  /// that is not settable. Exceptions from the callback are passed on.
  void set_parameter(std::string_view name, const nlohmann::json& value);

  /// Returns the prefix of this object's error messages, such as "component 'optimizer'".
  const std::string& where() const { return where_; }

  /// Throws kInvalidArgument if the given parameters contradict each other even though each value is allowed by itself.
  /// An override must not open data or use a device, because planning a run calls this function, too.
  virtual void check_parameters() const {}

  /// Returns the traits of this plugin, that is, what it declares besides its parameters, ports and services; launch
  /// files are checked against them. By default, there are none. If a kind of plugin has traits, the base class of this
  /// kind overrides the function.
  virtual core::PluginTraits declared_traits() const;

  /// Returns true if the object was constructed only so that a tool can read its declarations. It then has no values
  /// from a launch file, and required parameters have no meaningful value.
  bool describing() const { return describing_; }

 private:
  friend class ParameterBase;

  std::string where_;
  // This is a pointer so that this header, which every plugin includes, does not include the JSON library.
  std::unique_ptr<nlohmann::json> given_;
  // True if `given` was an empty text. Only then may required values be missing. The member is needed because an empty
  // text and "{}" lead to the same given_.
  bool describing_ = false;
  std::vector<ParameterBase*> parameters_;
};

}  // namespace trainyard
