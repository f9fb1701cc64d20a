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

/// Changes parameters of components that are made for each rank. Such a parameter has one value in a run: it is changed
/// on all ranks, after one step on which they agree, or on none.
///
///     pause the run -> param.set on every rank -> go on, with a record of the change
///
/// The run is paused by the component that has the services "pause" and "go_on"; without one, no step has to be agreed
/// on. Changes are made one after another.
class RunWideParameters {
 public:
  explicit RunWideParameters(RunContext& run) : run_(run) {}

  /// Returns the components that `target` names: the component itself, or that of every rank if the name lacks the
  /// rank. It is empty for an unknown name.
  std::vector<const ComponentPlan*> named(const std::string& target) const;

  /// Returns true if the component is made for each rank.
  bool is_run_wide(const ComponentPlan& component) const;

  /// Throws kInvalidArgument if `target` is the component of one rank among several.
  void check_all_ranks(const std::string& target) const;

  /// Changes a parameter; `body` is that of `param.set`. `answer` gets what the first rank's component answers, or why
  /// nothing was changed.
  void set(const std::string& target, const std::string& body, CallTable::Answer answer);

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
  std::deque<std::shared_ptr<Change>> changes_;  ///< The first one is under way.
};

}  // namespace trainyard::launch
