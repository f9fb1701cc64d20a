// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/parameter_info.h"
#include "core/config/plugin_spec.h"
#include "messages/words.h"

namespace trainyard {

class Configurable;

/// A tag that replaces the default value in a declaration: the launch file must give a value. If a plugin is
/// constructed only so that a tool can read its declarations, the parameter holds T{}.
struct Required {};
inline constexpr Required kRequired{};

/// The part of a parameter that does not depend on the type of its value. Read and change the value only on the thread
/// that runs the parameter's owner, the plugin that declares the parameter.
class ParameterBase {
 public:
  virtual ~ParameterBase() = default;
  ParameterBase(const ParameterBase&) = delete;
  ParameterBase& operator=(const ParameterBase&) = delete;

  /// Returns the declaration, which does not change.
  const ParameterInfo& info() const { return info_; }

  /// Checks `value` and stores it. If `value` is not allowed, throws kInvalidArgument and keeps the old value.
  void assign(const nlohmann::json& value);

  /// Returns the current value as JSON, in a form that assign() accepts.
  virtual nlohmann::json value() const = 0;

  /// Sets the callback; a parameter has only one. The callback runs on the owner's thread after
  /// Configurable::set_parameter() has changed the value. If the callback throws, the exception is passed on to the
  /// caller of set_parameter(), but the change is not undone.
  void on_change(std::function<void()> callback) { changed_ = std::move(callback); }
  /// Calls the callback, if one has been set. assign() does not call it, because assign() also sets the first value,
  /// from the launch file, which is not a change.
  void notify_changed() const {
    if (changed_) changed_();
  }

 protected:
  ParameterBase(Configurable& owner, ParameterInfo info);

  /// Stores a value that has been checked.
  virtual void store(const nlohmann::json& value) = 0;

  /// Stores the value from the launch file, if there is one. Throws kInvalidArgument if a required value is missing or
  /// a value is not allowed.
  void take_given(Configurable& owner);

 private:
  ParameterInfo info_;
  std::function<void()> changed_;
};

/// A named setting of a plugin. It is declared as a member, and this declaration is also its documentation.
///
///    Parameter<double> momentum_{*this, "momentum", 0.9, "weight of the last step", between(0, 1)};
///
/// T is one of bool, std::int64_t, double, std::string and PluginSpec; a std::vector of any of these except bool; or an
/// enumeration with words (messages/words.h). The value is set as soon as the member is constructed.
template <class T>
class Parameter final : public ParameterBase {
 public:
  /// Sets the value from the launch file, or else the default. If the value is not allowed, throws kInvalidArgument,
  /// naming the owner.
  Parameter(Configurable& owner, std::string name, T default_value, std::string help, ParameterRules rules = {});
  /// Declares a parameter without a default. Throws kInvalidArgument if the launch file gives no value.
  Parameter(Configurable& owner, std::string name, Required, std::string help, ParameterRules rules = {});

  /// Returns the current value, like `->` and get(). If the parameter is settable, the value can change between two
  /// handlers, but never during one.
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  const T& get() const { return value_; }

  nlohmann::json value() const override;

 private:
  void store(const nlohmann::json& value) override;

  T value_{};
};

/// The common base of all parameters whose values are the words of an enumeration. In a launch file these values are
/// strings.
class WordParameter : public ParameterBase {
 public:
  nlohmann::json value() const override;

 protected:
  /// `words` contains the word of each enumerator, indexed by the numeric value of the enumerator. `default_index` is
  /// the index of the default word. All words are allowed unless `rules` lists choices.
  WordParameter(Configurable& owner, std::string name, std::size_t default_index, std::string help,
                ParameterRules rules, std::span<const std::string_view> words);

  /// Returns the index of the current word in `words`, which is also the value of the enumerator.
  std::size_t index() const { return index_; }

 private:
  void store(const nlohmann::json& value) override;

  std::span<const std::string_view> words_;
  std::size_t index_;
};

/// A parameter whose type is an enumeration. A launch file gives the value as one of the words of the enumeration
/// (messages/words.h); any other word is refused.
///
///   Parameter<Sampling> sampling_{*this, "sampling", Sampling::kShuffle, "order of training samples"};
template <Worded E>
class Parameter<E> final : public WordParameter {
 public:
  Parameter(Configurable& owner, std::string name, E default_value, std::string help, ParameterRules rules = {})
      : WordParameter(owner, std::move(name), static_cast<std::size_t>(default_value), std::move(help),
                      std::move(rules), kWords<E>.values) {}

  E operator*() const { return static_cast<E>(index()); }
  E get() const { return **this; }
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
