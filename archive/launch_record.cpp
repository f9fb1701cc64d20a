// SPDX-License-Identifier: Apache-2.0
#include "archive/launch_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "archive/launcher_identity.h"
#include "core/config/bounded_json.h"
#include "messages/error.h"

namespace trainyard::archive {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// The version of the file format. It is increased when existing readers would misunderstand new files.
constexpr std::uint64_t kFormat = 1;

ordered_json git_json(const std::optional<GitState>& git) {
  if (!git) return nullptr;
  return {{"commit", git->commit}, {"branch", git->branch}, {"dirty", git->dirty}};
}

std::optional<GitState> git_from(const json& git) {
  if (git.is_null()) return std::nullopt;
  return GitState{git.at("commit"), git.at("branch"), git.at("dirty")};
}

LaunchState state_from(const std::string& word, const std::string& where) {
  const std::optional<LaunchState> state = find_by_name<LaunchState>(word);
  if (!state || *state >= LaunchState::kKilled) {
    throw Error(Code::kCorrupt, "{}: state: \"{}\" is not allowed; running, ended, failed or interrupted", where, word);
  }
  return *state;
}

/// Throws nlohmann's exceptions for a field that is missing or has another type.
LaunchRecord launch_from(const json& in, const std::string& where) {
  LaunchRecord out;
  in.at("number").get_to(out.number);
  in.at("run").get_to(out.run);
  in.at("name").get_to(out.name);
  in.at("file").get_to(out.file);
  in.at("arguments").get_to(out.arguments);
  in.at("working_directory").get_to(out.working_directory);
  for (const json& file : in.at("files")) out.files.push_back({file.at("path"), file.at("copy")});
  in.at("seed").get_to(out.seed);
  in.at("ranks").get_to(out.ranks);
  const json& versions = in.at("versions");
  out.versions = {versions.at("trainyard"), versions.at("libtorch"), versions.at("compiler"), versions.at("system")};
  out.git = git_from(in.at("git"));
  in.at("host").get_to(out.launcher.host);
  in.at("boot").get_to(out.launcher.boot);
  in.at("pid").get_to(out.launcher.pid);
  in.at("start_ticks").get_to(out.launcher.start_ticks);
  in.at("started_ns").get_to(out.started_ns);
  in.at("ended_ns").get_to(out.ended_ns);
  out.state = state_from(in.at("state"), where);
  in.at("reason").get_to(out.reason);
  return out;
}

}  // namespace

LaunchState state_now(const LaunchRecord& launch) {
  if (launch.state != LaunchState::kRunning) return launch.state;
  switch (find_launcher(launch.launcher)) {
    case Launcher::kAlive:
      return LaunchState::kRunning;
    case Launcher::kDead:
      return LaunchState::kKilled;
    case Launcher::kElsewhere:
      break;
  }
  return LaunchState::kUnknown;
}

std::string format_launch_record(const LaunchRecord& launch) {
  ordered_json files = ordered_json::array();
  for (const KeptFile& file : launch.files) files.push_back({{"path", file.path}, {"copy", file.copy}});
  const ordered_json versions = {{"trainyard", launch.versions.trainyard},
                                 {"libtorch", launch.versions.libtorch},
                                 {"compiler", launch.versions.compiler},
                                 {"system", launch.versions.system}};
  const ordered_json out = {{"format", kFormat},
                            {"number", launch.number},
                            {"run", launch.run},
                            {"name", launch.name},
                            {"state", name_of(launch.state)},
                            {"reason", launch.reason},
                            {"started_ns", launch.started_ns},
                            {"ended_ns", launch.ended_ns},
                            {"file", launch.file},
                            {"arguments", launch.arguments},
                            {"working_directory", launch.working_directory},
                            {"files", files},
                            {"seed", launch.seed},
                            {"ranks", launch.ranks},
                            {"versions", versions},
                            {"git", git_json(launch.git)},
                            {"host", launch.launcher.host},
                            {"boot", launch.launcher.boot},
                            {"pid", launch.launcher.pid},
                            {"start_ticks", launch.launcher.start_ticks}};
  // Paths and arguments come from the user and may not be valid UTF-8, so invalid bytes are replaced.
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

LaunchRecord parse_launch_record(const std::string& text, const std::string& where) {
  const std::optional<json> in = parse_bounded_json(text);
  if (!in || !in->is_object()) throw Error(Code::kCorrupt, "{}: is not a JSON object", where);
  try {
    const std::uint64_t format = in->at("format");
    if (format != kFormat) {
      throw Error(Code::kUnsupported, "{}: has format {}, but this version reads only format {}", where, format,
                  kFormat);
    }
    return launch_from(*in, where);
  } catch (const json::exception& error) {
    throw Error(Code::kCorrupt, "{}: {}", where, error.what());
  }
}

std::string launch_folder(const std::string& output_directory, std::uint32_t number) {
  return fmt::format("{}/launches/{}", output_directory, number);
}

}  // namespace trainyard::archive
