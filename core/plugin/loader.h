#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/plugin.h"

namespace trainyard {

/// Finds and loads plugins. Libraries lie in `<directory>/<kind folder>/<name>.so`, are read only from the directories
/// given, are refused when they or their folder are writable by everyone, and are never unloaded. Holds no lock.
class PluginLoader {
 public:
  /// `directories`: searched in this order. See `default_directories`.
  explicit PluginLoader(std::vector<std::string> directories);
  ~PluginLoader();

  /// TRAINYARD_PLUGIN_PATH (colon-separated), then the build's or the installation's own folder.
  static std::vector<std::string> default_directories();

  /// A plugin file and what it says of itself.
  struct Found {
    PluginLabel label;
    std::string path;
  };
  /// Labels of everything found, by kind and name; files that are no plugins are left out. Loads nothing.
  std::vector<Found> list() const;

  /// The file of a plugin; throws kNotFound with the nearest known name.
  std::string find(std::string_view kind, std::string_view name) const;

  /// Loads the library (once) and returns its entry. Throws kAbiMismatch with both tags before any C++ of the plugin
  /// can run, kPluginLoad with the dynamic linker's words, and kPluginLoad for a file that others may write to.
  const PluginEntry& load(const std::string& path);

  /// Makes a plugin of kind `Kind`; what its constructor throws comes out with the plugin named. Does not check that
  /// every given parameter was declared: check_all_given_are_known() can, once the object is complete.
  template <class Kind>
  std::unique_ptr<Kind> create(std::string_view name, typename Kind::Context& context) {
    const PluginEntry& entry = load(find(Kind::kKind, name));
    return std::unique_ptr<Kind>(static_cast<Kind*>(create(entry, &context, context.where)));
  }

  /// The same for a library whose path is known; `context` is the kind's context and the result the kind's base class.
  static void* create(const PluginEntry& entry, void* context, const std::string& where);

  /// A plugin that only declares its parameters and ports, and says what it knows with these parameters: made with
  /// an otherwise empty context, never to be configured. The caller owns it.
  static Configurable* describe(const PluginEntry& entry, const std::string& where, const std::string& parameters = "");

  /// In the order of search.
  const std::vector<std::string>& directories() const { return directories_; }

 private:
  struct Library;
  std::vector<std::string> directories_;
  std::mutex mutex_;  ///< Of what follows.
  std::vector<std::unique_ptr<Library>> libraries_;
};

}  // namespace trainyard
