// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/config/plugin_spec.h"
#include "core/plugin/plugin_context.h"
#include "strategies/rank_group.h"

namespace trainyard {

/// All ranks of a run, as one of them sees them.
class World : public RankGroup {
 public:
  /// Connects to the other ranks. `timeout` is how long an unresponsive rank is waited for. Throws kTimeout, naming the
  /// ranks that did not connect.
  World(const PluginContext& context, PluginSpec collective, std::chrono::milliseconds timeout);

  /// Makes and connects a further group. Exactly its members call this, with the same name and ranks, which are those
  /// of the run, ascending.
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
