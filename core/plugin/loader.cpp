// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/component/boundary.h"
#include "core/files/regular_file.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::core {

namespace fs = std::filesystem;

namespace {

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw Error(Code::kNotFound, "no plugin file {}", path.string());
  return status;
}

/// Refuses a file or folder to which every user may write. A library runs its constructors when it is loaded, so a user
/// who may write to it could run code in this process.
void refuse_writable_by_others(const fs::path& path) {
  const struct stat status = status_of(path);
  // In a sticky folder such as /tmp, everyone may add files, but nobody may replace the files of other users.
  const bool sticky = (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & S_IWOTH) != 0 && !sticky) {
    throw Error(Code::kPluginLoad,
                "{} can be written by everyone; take that right away (chmod o-w) before loading from it",
                path.string());
  }
}

/// Refuses a file or folder that belongs to another user, who could change it at any time. The superuser, this user,
/// and the user who installed Trainyard are trusted, because their code runs here anyway.
void refuse_foreign_owner(const fs::path& path, uid_t installer) {
  const uid_t owner = status_of(path).st_uid;
  if (owner == 0 || owner == ::geteuid() || owner == installer) return;
  throw Error(Code::kPluginLoad, "{} belongs to user {}, who could change it; allowed are user {}, root{}",
              path.string(), owner, ::geteuid(),
              installer == 0 || installer == ::geteuid() ? "" : fmt::format(" and user {}", installer));
}

/// Returns the name of the folder for plugins of a kind: "models" for "model", "strategies" for "strategy".
std::string folder_of_kind(std::string_view kind) {
  return kind.ends_with('y') ? fmt::format("{}ies", kind.substr(0, kind.size() - 1)) : fmt::format("{}s", kind);
}

/// Returns the folder that contains this library: <build>/lib or <prefix>/lib.
fs::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&refuse_writable_by_others), &info) == 0) return {};
  return fs::absolute(info.dli_fname).parent_path();
}

/// Refuses a file that other users can change, by writing to it or by replacing it in its folder.
void refuse_unsafe(const std::string& path) {
  const fs::path own = own_folder();
  const uid_t installer = own.empty() ? 0 : status_of(own).st_uid;
  for (const fs::path& each : {fs::path(path), fs::absolute(path).parent_path()}) {
    refuse_writable_by_others(each);
    refuse_foreign_owner(each, installer);
  }
}

/// Returns the paths of all files below a folder that could be plugins. Folders that cannot be read are skipped.
std::vector<std::string> libraries_below(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".so") found.push_back(entry->path());
  }
  return found;
}

}  // namespace

// The handle that dlopen() returns is not stored, because no library is ever unloaded: objects may refer to vtables and
// functions of a plugin until the process ends.
struct PluginLoader::Library {
  std::string path;
  const PluginEntry* entry = nullptr;
};

PluginLoader::PluginLoader(std::vector<std::string> directories) : directories_(std::move(directories)) {}

PluginLoader::~PluginLoader() = default;

// The user's folders come first, so that a user's plugin can replace a plugin that Trainyard supplies.
std::vector<std::string> PluginLoader::default_directories() {
  std::vector<std::string> directories;
  if (const char* path = std::getenv("TRAINYARD_PLUGIN_PATH")) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) {
      if (!part.empty()) directories.push_back(part);
    }
  }
  const fs::path own = own_folder();
  for (const fs::path& candidate : {own / "trainyard" / "plugins", own.parent_path() / "plugins"}) {
    if (fs::is_directory(candidate)) directories.push_back(candidate.string());
  }
  return directories;
}

std::vector<PluginLoader::Found> PluginLoader::list() const {
  std::vector<Found> found;
  for (const std::string& directory : directories_) {
    for (const std::string& path : libraries_below(directory)) {
      try {
        found.push_back({read_plugin_label(path), path});
      } catch (const Error&) {
        // This is a library that is not a plugin, or not a regular file.
      }
    }
  }
  // The sort is stable: of several plugins with the same kind and name, the first is the one in the earliest folder,
  // which find() also chooses. The others cannot be used, or are the same file, found again because one folder contains
  // another.
  const auto identity = [](const Found& f) { return std::pair(f.label.kind, f.label.name); };
  std::ranges::stable_sort(found, {}, identity);
  found.erase(std::ranges::unique(found, {}, identity).begin(), found.end());
  return found;
}

std::string PluginLoader::find(std::string_view kind, std::string_view name) const {
  for (const std::string& directory : directories_) {
    // A folder in TRAINYARD_PLUGIN_PATH need not have one folder for each kind.
    for (const fs::path& folder : {fs::path(directory) / folder_of_kind(kind), fs::path(directory)}) {
      const fs::path path = folder / fmt::format("{}.so", name);
      // A name is not a path: it must not lead out of the folder.
      if (name.find('/') == std::string_view::npos && is_there(path) && read_plugin_label(path).kind == kind)
        return path;
    }
  }
  // The list is made only for the error, because it reads the label of every library.
  std::vector<std::string> known;
  std::string other;  // Describes a plugin with this name but of another kind, for the error.
  for (const Found& found : list()) {
    if (found.label.kind == kind) known.push_back(found.label.name);
    if (found.label.kind != kind && found.label.name == name)
      other = fmt::format(" (there is a plugin '{}' of the kind {})", name, found.label.kind);
  }
  throw Error(Code::kNotFound, "no {} named '{}'{}{} (looked in {})", kind, name, other, suggestion(name, known),
              fmt::join(directories_, ", "));
}

const PluginEntry& PluginLoader::load(const std::string& path) {
  // The components of a process are configured concurrently, on separate threads, and several of them load plugins.
  const std::lock_guard lock(mutex_);
  const auto loaded = std::ranges::find(libraries_, path, [](const auto& library) { return library->path; });
  if (loaded != libraries_.end()) return *(*loaded)->entry;
  refuse_unsafe(path);
  // The tags are compared before dlopen(), which runs constructors of static objects.
  const PluginLabel label = read_plugin_label(path);
  if (!abi_matches(label.abi_tag, host_abi_tag())) {
    throw Error(Code::kAbiMismatch, "{} was built for '{}', this is '{}'; build it again against this installation",
                path, label.abi_tag, comparable_abi_tag(label.abi_tag, host_abi_tag()));
  }
  // With RTLD_NOW a missing symbol is reported here, with its name, and not in the middle of a run. With RTLD_LOCAL
  // plugins cannot see each other's symbols.
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Error(Code::kPluginLoad, "cannot load {}: {}", path, ::dlerror());
  const auto* entry = static_cast<const PluginEntry*>(::dlsym(handle, "trainyard_plugin_entry"));
  if (entry == nullptr) throw Error(Code::kPluginLoad, "{} has no entry 'trainyard_plugin_entry'", path);
  libraries_.push_back(std::make_unique<Library>(Library{path, entry}));
  return *entry;
}

namespace {

/// Calls `make`. An Error is passed on, because it already names the plugin; any other exception becomes an Error that
/// names it.
template <class Make>
auto named(const PluginEntry& entry, const std::string& where, Make make) {
  try {
    return make();
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw Error(Code::kPluginLoad, "{}: making the {} '{}' failed: {}", where, entry.kind, entry.name,
                describe_current_exception());
  }
}

}  // namespace

void* PluginLoader::create(const PluginEntry& entry, void* context, const std::string& where) {
  return named(entry, where, [&] { return entry.create(context); });
}

Configurable* PluginLoader::describe(const PluginEntry& entry, const std::string& where,
                                     const std::string& parameters) {
  return named(entry, where, [&] { return entry.describe(where.c_str(), parameters.c_str()); });
}

}  // namespace trainyard::core
