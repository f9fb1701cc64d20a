// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/config/plugin_spec.h"
#include "core/plugin/plugin_context.h"
#include "strategies/rank_group.h"

namespace trainyard {

/// The group of all ranks of a run.
class World : public RankGroup {
 public:
  /// Connects to the other ranks. `timeout` is the time for which an unresponsive rank is waited for. Throws kTimeout,
  /// naming the ranks that did not connect.
  World(const PluginContext& context, PluginSpec collective, std::chrono::milliseconds timeout);

  /// Makes and connects a further group. `ranks` are its members, by their ascending numbers in the run. All members
  /// must call this with the same arguments, and no other rank may.
  RankGroup make_group(const std::string& name, const std::vector<std::uint32_t>& ranks);

  /// Reports to the members of every group that it has made, too, that this rank cannot continue.
  void abort(const std::string& reason) noexcept;

  std::chrono::milliseconds timeout() const { return timeout_; }

 private:
  PluginContext context_;
  PluginSpec plugin_;
  std::chrono::milliseconds timeout_;
  std::vector<RankGroup> groups_;  ///< Those that were made.
};

}  // namespace trainyard
