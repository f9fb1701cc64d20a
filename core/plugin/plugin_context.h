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

/// What every plugin is constructed with, whatever its kind. A kind that needs more derives its own context. A plugin
/// that a component makes gets the component's rank, seed and folders, and a `where` and `parameters` of its own.
struct PluginContext {
  /// How errors and logs name it: "component 'optimizer'", "dataset 'text' of component 'data_loader'".
  std::string where;
  std::string parameters;  ///< A JSON object. If it is empty, only the declaration is wanted and nothing below is set.
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string output_directory;  ///< The run writes its results below this folder.
  std::shared_ptr<spdlog::logger> log;
  core::PluginLoader* plugins = nullptr;   ///< Makes further plugins: a component's model, a dataset's transform.
  core::SharedPool* pool = nullptr;        ///< Memory that other processes can read without a copy.
  core::Rendezvous* rendezvous = nullptr;  ///< Where ranks leave notes for each other.
};

}  // namespace trainyard
