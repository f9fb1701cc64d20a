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

/// Takes the place of a default: the launch file must give a value. While only the declaration is wanted, the parameter
/// has the zero of its type.
struct Required {};
inline constexpr Required kRequired{};

/// The part of a parameter that does not depend on its type. It is read and changed on its owner's thread.
class ParameterBase {
 public:
  virtual ~ParameterBase() = default;
  ParameterBase(const ParameterBase&) = delete;
  ParameterBase& operator=(const ParameterBase&) = delete;

  /// The declaration, which does not change.
  const ParameterInfo& info() const { return info_; }

  /// Checks `value` and takes it. If it is not allowed, throws kInvalidArgument and keeps the old one.
  void assign(const nlohmann::json& value);

  /// The current value, as a launch file would give it.
  virtual nlohmann::json value() const = 0;

  /// Sets the one callback, which is called on the component's own thread after a change while running. What it throws
  /// goes to whoever asked for the change, which stays made.
  void on_change(std::function<void()> callback) { changed_ = std::move(callback); }
  /// Calls the callback. assign() does not do so, because the first value, from the launch file, is not a change.
  void notify_changed() const {
    if (changed_) changed_();
  }

 protected:
  ParameterBase(Configurable& owner, ParameterInfo info);

  /// Takes a value that has been checked.
  virtual void store(const nlohmann::json& value) = 0;

  /// Takes the value that the launch file gave, if any. Throws if a required value is missing.
  void take_given(Configurable& owner);

 private:
  ParameterInfo info_;
  std::function<void()> changed_;
};

/// A named value of a plugin. It is declared as a member, and the declaration is its documentation.
///
///    Parameter<double> momentum_{*this, "momentum", 0.9, "weight of the last step", between(0, 1)};
///
/// T is bool, std::int64_t, double, std::string, PluginSpec, or a std::vector of one of the last four. The value is
/// there as soon as the member is constructed.
template <class T>
class Parameter final : public ParameterBase {
 public:
  /// Takes its value at once. Throws kInvalidArgument, which names the owner, for a value that is not allowed.
  Parameter(Configurable& owner, std::string name, T default_value, std::string help, ParameterRules rules = {});
  /// Declares a parameter without a default. Throws if the launch file gives no value.
  Parameter(Configurable& owner, std::string name, Required, std::string help, ParameterRules rules = {});

  /// The current value. That of a settable parameter may change between two handlers, but never within one.
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
extern template class Parameter<std::vector<PluginSpec>>;

}  // namespace trainyard
