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

/// The arguments from which every plugin is constructed, whatever its kind. A kind that needs more derives its own
/// context. A plugin that a component makes gets the component's rank, seed and folders, and a `where` and `parameters`
/// of its own.
struct PluginContext {
  /// The name in errors and logs: "component 'optimizer'", "dataset 'text' of component 'data_loader'".
  std::string where;
  /// A JSON object. If it is empty, the plugin is constructed only to read its declaration, and the members below are
  /// not set.
  std::string parameters;
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string output_directory;  ///< The run writes its results below this folder.
  std::shared_ptr<spdlog::logger> log;
  core::PluginLoader* plugins = nullptr;   ///< Creates further plugins, such as a component's model.
  core::SharedPool* pool = nullptr;        ///< Memory that other processes can read without a copy.
  core::Rendezvous* rendezvous = nullptr;  ///< Stores the notes by which ranks find each other.
};

}  // namespace trainyard
