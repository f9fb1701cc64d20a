// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/plugin.h"

namespace trainyard::core {

/// A loader that finds and loads plugins. A library is found as `<directory>/<kind folder>/<name>.so`, such as
/// `plugins/models/mlp.so`, or as `<directory>/<name>.so`. A library is refused if everyone may write to it or to its
/// folder, unless the folder is sticky like /tmp. No library is ever unloaded. The loader holds no lock while it
/// constructs a plugin.
class PluginLoader {
 public:
  /// `directories` are searched in this order; see `default_directories`.
  explicit PluginLoader(std::vector<std::string> directories);
  ~PluginLoader();

  /// Returns the folders in TRAINYARD_PLUGIN_PATH (separated by colons), then the folder of the build or the
  /// installation.
  static std::vector<std::string> default_directories();

  /// A plugin file and its label.
  struct Found {
    PluginLabel label;
    std::string path;
  };
  /// Returns the labels of all plugins found, sorted by kind and name. Files that are not plugins are omitted. No
  /// library is loaded.
  std::vector<Found> list() const;

  /// Returns the path of a plugin's library. If there is none, throws kNotFound and suggests the nearest known name.
  std::string find(std::string_view kind, std::string_view name) const;

  /// Loads the library unless it is loaded already, and returns its entry. If the ABI tag does not fit, throws
  /// kAbiMismatch, with both tags in its text, before any code of the plugin can run. Throws kPluginLoad if the dynamic
  /// linker fails, or for a file that everyone may write to.
  const PluginEntry& load(const std::string& path);

  /// Constructs the plugin `name` of the kind `Kind`. An Error that its constructor throws is passed on; any other
  /// exception becomes a kPluginLoad that names the plugin. Undeclared parameters are not refused here; call
  /// check_all_given_are_known() when the object is complete.
  template <class Kind>
  std::unique_ptr<Kind> create(std::string_view name, typename Kind::Context& context) {
    const PluginEntry& entry = load(find(Kind::kKind, name));
    return std::unique_ptr<Kind>(static_cast<Kind*>(create(entry, &context, context.where)));
  }

  /// Constructs a plugin of a loaded library. `context` points to the context type of the plugin's kind, and the result
  /// points to the base class of the kind. `where` names the plugin in errors.
  static void* create(const PluginEntry& entry, void* context, const std::string& where);

  /// Constructs a plugin only to read its declaration and its traits, which can depend on `parameters`. All other
  /// members of the plugin's context are unset, so the plugin must not be used for anything else. The caller owns the
  /// result.
  static Configurable* describe(const PluginEntry& entry, const std::string& where, const std::string& parameters = "");

  /// Returns the directories, in the order of the search.
  const std::vector<std::string>& directories() const { return directories_; }

 private:
  struct Library;
  std::vector<std::string> directories_;
  std::mutex mutex_;  ///< Guards libraries_.
  std::vector<std::unique_ptr<Library>> libraries_;
};

}  // namespace trainyard::core
