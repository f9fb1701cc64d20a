#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/parameter.h"

namespace trainyard {

/// Anything with parameters: every plugin of every kind derives from it. Parameters are members of the derived class
/// and register themselves here while it is being constructed; hence neither copy nor move.
class Configurable {
 public:
  /// `given` is a JSON object with the values of the launch file; empty text: only the declaration is wanted. `where`
  /// names the plugin in errors. Throws kInvalidArgument if `given` is JSON, but no object.
  Configurable(std::string where, std::string_view given);
  virtual ~Configurable();
  Configurable(const Configurable&) = delete;
  Configurable& operator=(const Configurable&) = delete;

  /// In the order of declaration.
  std::span<ParameterBase* const> parameters() const { return parameters_; }

  /// Null if there is none of this name.
  ParameterBase* find_parameter(std::string_view name) const;

  /// Throws kInvalidArgument for a given name that was not declared, with the nearest declared one.
  void check_all_given_are_known() const;

  /// Changes a parameter of a running component; throws for an unknown name, a value that is not allowed and a
  /// parameter that cannot be set while running.
  void set_parameter(std::string_view name, const nlohmann::json& value);

  /// "component 'optimizer'": how errors begin.
  const std::string& where() const { return where_; }

  /// What `trainyard plugin info` should print beyond parameters and ports: "available" = "false", ...
  virtual std::map<std::string, std::string> facts() const { return {}; }

  /// True while only the declaration is wanted: no value is given, and none of the required ones is missed.
  bool describing() const { return describing_; }

 private:
  friend class ParameterBase;

  std::string where_;
  // Behind a pointer, so that this header, which everybody includes, does without the JSON library.
  std::unique_ptr<nlohmann::json> given_;
  // Kept apart from given_, since "{}" means that nothing was given and everything required is missed.
  bool describing_ = false;
  std::vector<ParameterBase*> parameters_;
};

}  // namespace trainyard
