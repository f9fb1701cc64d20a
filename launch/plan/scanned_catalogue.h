// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/plugin/loader.h"
#include "launch/plan/catalogue.h"

namespace trainyard::launch {

/// Describes plugins in a child process, so that a plugin that crashes or loads LibTorch does not affect the launcher.
/// It keeps the answers in a file, by path, size and time of change, so that the next launch need not describe the
/// plugins again.
class ScannedCatalogue final : public Catalogue {
 public:
  /// `process_program` is the path of trainyard-process. If `cache_file` is empty, the user's cache directory is used.
  ScannedCatalogue(std::vector<std::string> directories, std::string process_program, std::string cache_file = "");
  /// Writes the cache if it has changed. Errors are ignored.
  ~ScannedCatalogue() override;

  /// Throws kNotFound, kAbiMismatch with both tags, or kPluginLoad with the error output of the child.
  const core::PluginInfo& info(std::string_view kind, std::string_view name) override;

  /// Reads the labels of all plugin files. It runs none of their code.
  std::vector<PluginLabel> list() override;

  Answer ask(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) override;

  /// Describes the plugin again, even if it is cached. This is for what may change, such as the number of devices.
  const core::PluginInfo& refresh(std::string_view kind, std::string_view name);

 private:
  // Describes the plugin in a child process and stores the answer.
  const core::PluginInfo& describe(const std::string& path, const std::string& stamp);
  core::PluginInfo run_description(const std::string& path, const std::string& parameters) const;
  // Reads the cache file. If it cannot be read, the cache stays empty.
  void load_cache();
  void save_cache() const;

  core::PluginLoader loader_;
  std::string process_program_;
  std::string cache_file_;
  struct Entry {
    std::string stamp;  ///< The size, the time of change and this installation's ABI tag.
    core::PluginInfo info;
    std::map<std::string, Answer> answers;  ///< Indexed by the parameters with which the plugin was asked.
  };
  std::map<std::string, Entry> entries_;  ///< Indexed by path.
  bool changed_ = false;
};

}  // namespace trainyard::launch
