#pragma once

#include <map>
#include <string>

#include "core/plugin/loader.h"
#include "launch/plan/catalogue.h"

namespace trainyard::launch {

/// Describes plugins in a child process, so that one that crashes, or that pulls in LibTorch, does neither to the
/// launcher; keeps the answers in a file, by path, size and time of change, so that the next launch asks nobody.
class ScannedCatalogue final : public Catalogue {
 public:
  /// `process_program`: path of trainyard-process. `cache_file`: empty = the user's cache directory.
  ScannedCatalogue(std::vector<std::string> directories, std::string process_program, std::string cache_file = "");
  /// Writes the cache if anything new was learned; says nothing if it cannot.
  ~ScannedCatalogue() override;

  /// Throws kNotFound, kAbiMismatch with both tags, or kPluginLoad with what the child said before it failed.
  const core::PluginInfo& info(std::string_view kind, std::string_view name) override;

  /// Reads the labels of all plugin files; runs none of their code.
  std::vector<PluginLabel> list() override;

  Facts facts(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) override;

  /// Describes the plugin anew, whatever the cache says: for facts that change, like the number of devices.
  const core::PluginInfo& refresh(std::string_view kind, std::string_view name);

 private:
  // Asks a child process and remembers the answer.
  const core::PluginInfo& describe(const std::string& path, const std::string& stamp);
  core::PluginInfo run_description(const std::string& path, const std::string& parameters) const;
  // What is in the file; nothing, without a word, if it cannot be read.
  void load_cache();
  void save_cache() const;

  core::PluginLoader loader_;
  std::string process_program_;
  std::string cache_file_;
  struct Entry {
    std::string stamp;  ///< Size, time of change and this installation's ABI tag.
    core::PluginInfo info;
    std::map<std::string, Facts> facts;  ///< By parameters, of those that were asked for with some.
  };
  std::map<std::string, Entry> entries_;  ///< By path.
  bool changed_ = false;
};

}  // namespace trainyard::launch
