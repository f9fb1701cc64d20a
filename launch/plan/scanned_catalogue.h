// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/plugin/loader.h"
#include "launch/plan/catalogue.h"

namespace trainyard::launch {

/// The catalogue of the plugins that are installed. It loads each plugin in a child process, so that a plugin that
/// crashes or loads LibTorch does not affect the launcher. What the plugins report is cached in a file. A cached report
/// is used until the path, the size or the modification time of the plugin's file or the ABI tag of Trainyard
/// (core/plugin/abi.h) changes.
class ScannedCatalogue final : public Catalogue {
 public:
  /// `directories` are searched for plugins. `process_program` is the path of trainyard-process. If `cache_file` is
  /// empty, a file in the user's cache directory is used.
  ScannedCatalogue(std::vector<std::string> directories, std::string process_program, std::string cache_file = "");
  /// Writes the cache if it has changed. Errors are ignored.
  ~ScannedCatalogue() override;

  /// Throws kNotFound, kAbiMismatch with both ABI tags, or kPluginLoad with what the child process wrote to its
  /// standard error.
  const core::PluginInfo& info(std::string_view kind, std::string_view name) override;

  /// Reads the labels from the files of all plugins, without running code from them.
  std::vector<PluginLabel> list() override;

  Answer ask(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) override;

  /// Describes the plugin again, even if its description is cached. This updates facts that can change, such as the
  /// number of devices.
  const core::PluginInfo& refresh(std::string_view kind, std::string_view name);

 private:
  // Describes the plugin in a child process and stores the answer.
  const core::PluginInfo& describe(const std::string& path, const std::string& stamp);
  core::PluginInfo run_description(const std::string& path, const std::string& parameters) const;
  // Reads the cache file. If the file cannot be read, the cache stays empty.
  void load_cache();
  void save_cache() const;

  core::PluginLoader loader_;
  std::string process_program_;
  std::string cache_file_;
  struct Entry {
    std::string stamp;  ///< The size and modification time of the file, and this installation's ABI tag.
    core::PluginInfo info;
    std::map<std::string, Answer> answers;  ///< The answers, indexed by the parameters of the plugin.
  };
  std::map<std::string, Entry> entries_;  ///< The entries of the cache, by the path of the plugin's file.
  bool changed_ = false;
};

}  // namespace trainyard::launch
