// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/scanned_catalogue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "launch/plan/child_output.h"
#include "messages/error.h"

namespace trainyard::launch {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The deadline for the description of a plugin. Loading LibTorch from a slow disk can take some seconds, but a plugin
/// that hangs must not block the launch.
constexpr std::chrono::seconds kDescribeDeadline{60};

/// The largest number of answers, one for each set of parameters, that are cached for one plugin. Otherwise a sweep
/// over many values would make the file grow without limit.
constexpr std::size_t kMostRemembered = 32;

/// Returns the path of the cache file according to the XDG base directory specification. Without a home directory, the
/// path is empty and nothing is cached.
std::string default_cache_file() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/trainyard/plugins.json";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.cache/trainyard/plugins.json";
}

/// Returns a text that changes when the file changes. It contains the modification time in nanoseconds, because a build
/// can replace a library twice within a second.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw Error(Code::kNotFound, "no plugin file {}", path);
  return fmt::format("{} {}.{} {}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, host_abi_tag());
}

/// Throws if the ABI tags differ. They are compared here as well as in the child process, so that the error can show
/// both tags.
void refuse_foreign_abi(const std::string& path) {
  const PluginLabel label = read_plugin_label(path);
  if (abi_matches(label.abi_tag, host_abi_tag())) return;
  throw Error(Code::kAbiMismatch, "{} was built for '{}', this is '{}'; build it again against this installation", path,
              label.abi_tag, comparable_abi_tag(label.abi_tag, host_abi_tag()));
}

json to_json(const Catalogue::Answer& answer) {
  return {{"traits", to_json(answer.traits)}, {"objection", answer.objection}};
}

Catalogue::Answer answer_from_json(const PluginLabel& label, const json& in) {
  return {core::plugin_traits_from_json(label.kind, in.at("traits"), label.name), in.at("objection")};
}

}  // namespace

ScannedCatalogue::ScannedCatalogue(std::vector<std::string> directories, std::string process_program,
                                   std::string cache_file)
    : loader_(std::move(directories)),
      process_program_(std::move(process_program)),
      cache_file_(cache_file.empty() ? default_cache_file() : std::move(cache_file)) {
  load_cache();
}

ScannedCatalogue::~ScannedCatalogue() {
  if (!changed_) return;
  try {
    save_cache();
  } catch (const std::exception&) {
    // If the cache cannot be written, the next launch only takes longer.
  }
}

// If the stamp has changed, another library is at this path, which must be described again.
const core::PluginInfo& ScannedCatalogue::info(std::string_view kind, std::string_view name) {
  const std::string path = loader_.find(kind, name);
  const std::string stamp = stamp_of(path);
  const auto known = entries_.find(path);
  if (known != entries_.end() && known->second.stamp == stamp) return known->second.info;
  return describe(path, stamp);
}

const core::PluginInfo& ScannedCatalogue::refresh(std::string_view kind, std::string_view name) {
  const std::string path = loader_.find(kind, name);
  return describe(path, stamp_of(path));
}

std::vector<PluginLabel> ScannedCatalogue::list() {
  std::vector<PluginLabel> labels;
  for (auto& found : loader_.list()) labels.push_back(std::move(found.label));
  return labels;
}

const core::PluginInfo& ScannedCatalogue::describe(const std::string& path, const std::string& stamp) {
  core::PluginInfo info = run_description(path, "");
  changed_ = true;
  return (entries_[path] = Entry{stamp, std::move(info), {}}).info;
}

core::PluginInfo ScannedCatalogue::run_description(const std::string& path, const std::string& parameters) const {
  refuse_foreign_abi(path);
  // The child process prints JSON on its standard output. A plugin that prints something there makes its own
  // description invalid.
  std::vector<std::string> command{process_program_, "--describe", path};
  if (!parameters.empty()) command.insert(command.end(), {"--parameters", parameters});
  const ChildOutput output = run_child(command, kDescribeDeadline);
  if (!output.succeeded()) {
    throw Error(Code::kPluginLoad, "{} cannot be described: {}", path, output.failure());
  }
  try {
    return core::plugin_info_from_json(json::parse(output.text));
  } catch (const json::exception& error) {
    throw Error(Code::kPluginLoad, "{} was described in words that make no sense: {}", path, error.what());
  }
}

Catalogue::Answer ScannedCatalogue::ask(std::string_view kind, std::string_view name, const std::string& parameters,
                                        bool anew) {
  const core::PluginInfo& plugin = info(kind, name);
  Entry& entry = entries_.at(plugin.path);
  const std::string asked = parameters.empty() ? "{}" : parameters;
  const auto known = entry.answers.find(asked);
  if (!anew && known != entry.answers.end()) return known->second;
  // Without parameters, the declaration already contains the answer, unless the plugin checks its parameters.
  if (!anew && asked == "{}" && !plugin.component_traits().checks_parameters) return {plugin.traits, ""};
  core::PluginInfo described = run_description(plugin.path, asked);
  changed_ = true;
  if (entry.answers.size() >= kMostRemembered) entry.answers.clear();
  return entry.answers[asked] = Answer{std::move(described.traits), std::move(described.objection)};
}

void ScannedCatalogue::load_cache() {
  std::ifstream file(cache_file_);
  if (!file) return;
  try {
    const json cache = json::parse(file);
    // Outdated entries are read, too. They are detected when they are used.
    for (const json& entry : cache.at("plugins")) {
      core::PluginInfo info = core::plugin_info_from_json(entry.at("info"));
      const std::string path = info.path;
      Entry& read = entries_[path] = Entry{entry.at("stamp"), std::move(info), {}};
      for (const auto& [parameters, answer] : entry.at("answers").items()) {
        read.answers[parameters] = answer_from_json(read.info.label, answer);
      }
    }
  } catch (const std::exception&) {
    entries_.clear();  // Another version has written the file, or it is incomplete, so it will be replaced.
  }
}

void ScannedCatalogue::save_cache() const {
  json plugins = json::array();
  for (const auto& [path, entry] : entries_) {
    // Entries of libraries that no longer exist are removed. Otherwise the cache would grow with every build folder.
    if (!fs::exists(path)) continue;
    json answers = json::object();
    for (const auto& [parameters, answer] : entry.answers) answers[parameters] = to_json(answer);
    plugins.push_back({{"stamp", entry.stamp}, {"info", to_json(entry.info)}, {"answers", std::move(answers)}});
  }
  fs::create_directories(fs::path(cache_file_).parent_path());
  // The file is written under another name and then renamed. If several launches end at the same time, the result is
  // the complete file of one of them.
  const std::string temporary = fmt::format("{}.{}", cache_file_, ::getpid());
  std::ofstream(temporary) << json{{"plugins", plugins}}.dump();
  fs::rename(temporary, cache_file_);
}

}  // namespace trainyard::launch
