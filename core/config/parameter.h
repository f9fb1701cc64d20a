#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/config/parameter_info.h"
#include "core/config/plugin_spec.h"

namespace trainyard {

class Configurable;

/// In place of a default: the launch file must give a value.
struct Required {};
inline constexpr Required kRequired{};

/// The part of a parameter that does not depend on its type.
class ParameterBase {
 public:
  virtual ~ParameterBase() = default;
  ParameterBase(const ParameterBase&) = delete;
  ParameterBase& operator=(const ParameterBase&) = delete;

  const ParameterInfo& info() const { return info_; }

  /// Checks and takes a value; throws kInvalidArgument and keeps the old one.
  void assign(const nlohmann::json& value);

  virtual nlohmann::json value() const = 0;

  /// Called on the component's own thread after a change while running.
  void on_change(std::function<void()> callback) { changed_ = std::move(callback); }
  void notify_changed() const {
    if (changed_) changed_();
  }

 protected:
  ParameterBase(Configurable& owner, ParameterInfo info);

  virtual void store(const nlohmann::json& value) = 0;

  /// Takes the value that the launch file gave, if any; throws if one was required.
  void take_given(Configurable& owner);

 private:
  ParameterInfo info_;
  std::function<void()> changed_;
};

/// A named value of a plugin, declared as a member; the declaration is the documentation.
///
///     Parameter<double> momentum_{*this, "momentum", 0.9, "weight of the last step", between(0, 1)};
///
/// T is bool, std::int64_t, double, std::string, a std::vector of the last three, or PluginSpec. The value is there as
/// soon as the member is constructed.
template <class T>
class Parameter final : public ParameterBase {
 public:
  Parameter(Configurable& owner, std::string name, T default_value, std::string help, ParameterRules rules = {});
  Parameter(Configurable& owner, std::string name, Required, std::string help, ParameterRules rules = {});

  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  const T& get() const { return value_; }

  nlohmann::json value() const override;

 private:
  void store(const nlohmann::json& value) override;

  T value_{};
};

extern template class Parameter<bool>;
extern template class Parameter<std::int64_t>;
extern template class Parameter<double>;
extern template class Parameter<std::string>;
extern template class Parameter<std::vector<std::int64_t>>;
extern template class Parameter<std::vector<double>>;
extern template class Parameter<std::vector<std::string>>;
extern template class Parameter<PluginSpec>;

}  // namespace trainyard
