// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/config/plugin_spec.h"
#include "core/plugin/plugin_context.h"
#include "strategies/rank_group.h"

namespace trainyard {

/// The group of all ranks of a run, which can also make smaller groups.
class World : public RankGroup {
 public:
  /// Connects to the other ranks, unless the run has a single rank. `collective` names the plugin through which ranks
  /// exchange data; see make_collective(). `timeout` is how long to wait for a rank that does not respond. Throws
  /// kTimeout, naming the ranks that did not connect.
  World(const PluginContext& context, PluginSpec collective, std::chrono::milliseconds timeout);

  /// Makes and connects a group of the ranks in `ranks`, which must be in ascending order. `name` must be unique within
  /// the run. Exactly the ranks in `ranks` must call this function, with the same arguments. The group adds the bytes
  /// that it copies to the same counters as this object; see count_copies().
  RankGroup make_group(const std::string& name, const std::vector<std::uint32_t>& ranks);

  /// Makes the world and every group made by make_group() fail. Call this function if this rank cannot continue: the
  /// other ranks then get an error that contains `reason`.
  void abort(const std::string& reason) noexcept;

  std::chrono::milliseconds timeout() const { return timeout_; }

 private:
  PluginContext context_;
  PluginSpec plugin_;
  std::chrono::milliseconds timeout_;
  std::vector<RankGroup> groups_;  ///< The groups made by make_group().
};

}  // namespace trainyard
