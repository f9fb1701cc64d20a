// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/run/run_context.h"

namespace trainyard::launch {

/// Changes parameters of components that exist for each rank. Such a parameter must have the same value on all ranks.
/// It is therefore changed on all ranks after the same step, or on none.
///
///     pause the run -> param.set on every rank -> go on, with a record of the change
///
/// The component that has the services "pause" and "go_on" pauses the run. If there is no such component, the parameter
/// is changed without a pause, so ranks may use the new value from different steps on. Changes are made one after
/// another.
class RunWideParameters {
 public:
  explicit RunWideParameters(RunContext& run) : run_(run) {}

  /// Returns the components that `target` names. If `target` is the name of a component that exists for each rank,
  /// without its rank, the result contains the components of all ranks; for any other name of a component, only this
  /// component. The result is empty for an unknown name.
  std::vector<const ComponentPlan*> named(const std::string& target) const;

  /// Returns true if the component exists for each rank.
  bool is_run_wide(const ComponentPlan& component) const;

  /// Throws kInvalidArgument if `target` selects `component` on only one of several ranks, as "rank1/optimizer" does.
  void check_all_ranks(const std::string& target, const ComponentPlan& component) const;

  /// Changes a parameter of `component` on all ranks. `body` is the body of a `param.set` call. `answer` receives the
  /// answer of one of the components if the change has succeeded on all ranks, and otherwise an error.
  void set(const ComponentPlan& component, const std::string& body, CallTable::Answer answer);

 private:
  struct Change;

  void begin(const std::shared_ptr<Change>& change);
  void pause(const std::shared_ptr<Change>& change);
  void set_everywhere(const std::shared_ptr<Change>& change);
  void conclude(const std::shared_ptr<Change>& change);
  void take_back(const std::shared_ptr<Change>& change);
  void go_on(const std::shared_ptr<Change>& change, const std::string& body);
  void finish(const std::shared_ptr<Change>& change);
  const ComponentPlan* director() const;

  RunContext& run_;
  std::deque<std::shared_ptr<Change>> changes_;  ///< The first change is in progress; the others wait.
};

}  // namespace trainyard::launch
