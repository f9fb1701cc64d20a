// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <memory>
#include <string>

namespace trainyard::core {
class PluginLoader;
class Rendezvous;
class SharedPool;
}  // namespace trainyard::core

namespace trainyard {

/// The arguments of the constructor of every plugin. A kind of plugin that needs more arguments derives its own
/// context. A plugin that a component creates gets a copy of the component's context, except that it has its own
/// `where` and `parameters`.
struct PluginContext {
  /// The plugin's name in errors and logs: "component 'optimizer'", "dataset 'text' of component 'data_loader'".
  std::string where;
  /// The parameters, as the text of a JSON object. If the plugin is constructed only to read its declaration, this can
  /// be an empty string (not "{}"), and the members below are not set. A constructor must therefore not rely on them.
  std::string parameters;
  std::uint64_t seed = 0;  ///< The seed of the run.
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;          ///< The number of ranks of the run.
  std::uint32_t host = 0;                ///< The number of this host, counted from 0.
  std::uint32_t first_rank_of_host = 0;  ///< The lowest rank on this host.
  std::uint32_t ranks_of_host = 0;       ///< The number of ranks on this host; 0 if all ranks are on it.
  std::string output_directory;          ///< The folder for the results of the run.
  std::shared_ptr<spdlog::logger> log;
  core::PluginLoader* plugins = nullptr;   ///< Loads and creates further plugins, such as a model.
  core::SharedPool* pool = nullptr;        ///< Allocates memory that other processes can read without a copy.
  core::Rendezvous* rendezvous = nullptr;  ///< Stores small texts with which ranks find each other.

  /// Returns the number of ranks on this host.
  std::uint32_t ranks_here() const { return ranks_of_host == 0 ? world_size : ranks_of_host; }
  /// Returns the number of this rank on its host, counted from 0. It selects the rank's device and cores.
  std::uint32_t rank_here() const { return rank - first_rank_of_host; }
};

}  // namespace trainyard
