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

/// Anything with parameters: every plugin of every kind derives from it.
class Configurable {
 public:
  /// `given` is a JSON object with the values of the launch file; empty text: only the declaration is wanted. `where`
  /// names the plugin in errors.
  Configurable(std::string where, std::string_view given);
  virtual ~Configurable();
  Configurable(const Configurable&) = delete;
  Configurable& operator=(const Configurable&) = delete;

  std::span<ParameterBase* const> parameters() const { return parameters_; }

  /// Null if there is none of this name.
  ParameterBase* find_parameter(std::string_view name) const;

  /// Throws kInvalidArgument for a given name that was not declared, with the nearest declared one.
  void check_all_given_are_known() const;

  /// Changes a parameter of a running component; throws for an unknown name, a value that is not allowed and a
  /// parameter that cannot be set while running.
  void set_parameter(std::string_view name, const nlohmann::json& value);

  const std::string& where() const { return where_; }

  /// What `trainyard plugin info` should print beyond parameters and ports: "available" = "false", ...
  virtual std::map<std::string, std::string> facts() const { return {}; }

  /// True while only the declaration is wanted: no value is given, and none of the required ones is missed.
  bool describing() const { return describing_; }

 private:
  friend class ParameterBase;

  std::string where_;
  std::unique_ptr<nlohmann::json> given_;
  bool describing_ = false;
  std::vector<ParameterBase*> parameters_;
};

}  // namespace trainyard
