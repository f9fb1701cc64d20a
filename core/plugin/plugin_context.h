#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <memory>
#include <string>

namespace trainyard {

class PluginLoader;
class Rendezvous;
class SharedPool;

/// What every plugin is made with, whatever its kind. Kinds derive their own context where they need more. Plugins that
/// a component makes get its rank, seed and folders, and a `where` and `parameters` of their own.
struct PluginContext {
  std::string where;  ///< For errors and logs: "component 'optimizer'", "dataset 'text' of component 'data_loader'".
  std::string parameters;  ///< JSON object; empty: only the declaration is wanted, and nothing below is set.
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string output_directory;  ///< What the run writes goes below it.
  std::shared_ptr<spdlog::logger> log;
  PluginLoader* plugins = nullptr;   ///< To make further plugins: a component's model, a dataset's transform.
  SharedPool* pool = nullptr;        ///< Memory that other processes can read without a copy.
  Rendezvous* rendezvous = nullptr;  ///< Where ranks leave notes for each other.
};

}  // namespace trainyard
