// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/plugin.h"

namespace trainyard::core {

/// Finds and loads the libraries of plugins. The library of the plugin `mlp` of the kind "model" is the file
/// `models/mlp.so` or `mlp.so` in one of the directories. A library is refused if everyone may write to it or to its
/// folder, except that a sticky folder such as /tmp is allowed. The library and its folder must belong to this user, to
/// root, or to the user who installed Trainyard. No library is ever unloaded. Thread-safe. No lock is held while a
/// plugin is constructed.
class PluginLoader {
 public:
  /// `directories` are the directories to search, in this order; see default_directories().
  explicit PluginLoader(std::vector<std::string> directories);
  ~PluginLoader();

  /// Returns the directories in the environment variable TRAINYARD_PLUGIN_PATH (separated by colons), followed by the
  /// plugin directory of the build or the installation.
  static std::vector<std::string> default_directories();

  /// A plugin file and its label.
  struct Found {
    PluginLabel label;
    std::string path;
  };
  /// Returns all plugins in the directories and in all folders below them, sorted by kind and name. If several files
  /// contain a plugin of the same kind and name, only the first one in the order of the search is listed. Files that
  /// are not plugins are omitted. No library is loaded.
  std::vector<Found> list() const;

  /// Returns the path of the library of the plugin `name` of the kind `kind`, such as "model". If there is no such
  /// library, throws kNotFound; the error suggests the nearest known name.
  std::string find(std::string_view kind, std::string_view name) const;

  /// Loads the library at `path` unless it is loaded already, and returns its entry. If the ABI tag does not match,
  /// throws kAbiMismatch before any code of the plugin can run; the error contains both tags. Throws kNotFound if there
  /// is no such file, and kPluginLoad if the file is not a plugin, is refused because of its owner or permissions (see
  /// PluginLoader), or cannot be loaded by the dynamic linker.
  const PluginEntry& load(const std::string& path);

  /// Finds, loads and constructs the plugin `name`. `Kind` is the base class of the kind of plugin, such as Model. An
  /// Error that the constructor throws is passed on; any other exception becomes an Error with the code kPluginLoad
  /// that names the plugin. This function does not refuse undeclared parameters; call
  /// Configurable::check_all_given_are_known() on the result.
  template <class Kind>
  std::unique_ptr<Kind> create(std::string_view name, typename Kind::Context& context) {
    const PluginEntry& entry = load(find(Kind::kKind, name));
    return std::unique_ptr<Kind>(static_cast<Kind*>(create(entry, &context, context.where)));
  }

  /// Constructs a plugin of a loaded library; the caller owns the result. `context` points to an object of the context
  /// type of the plugin's kind (Kind::Context), and the result points to an object of the kind's base class, such as
  /// Model. `where` names the plugin in errors.
  static void* create(const PluginEntry& entry, void* context, const std::string& where);

  /// Constructs a plugin only to read its declaration and its traits. `parameters` is a JSON object, or an empty string
  /// to give no values; the traits can depend on it. `where` names the plugin in errors. All other members of the
  /// plugin's context are unset, so the plugin must not be used for anything else. The caller owns the result.
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
