// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/checkpoint_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>

#include "checkpoints/json_input.h"
#include "checkpoints/safetensors.h"
#include "messages/error.h"

namespace trainyard::checkpoints {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";

/// Removes a number from the front of `text` and returns the number. Returns nothing if `text` does not begin with a
/// number, or if the number is too large.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return number;
}

Manifest read_manifest(const std::string& path) {
  const std::string file = path + "/" + kManifestFile;
  Manifest manifest = parse_manifest(read_text_file(file), file);
  // The optimizer's file may be missing, because a run can be told not to save it.
  for (const char* needed : {kModelFile, kRunFile}) {
    if (!manifest.files.contains(needed)) throw Error(Code::kCorrupt, "{} does not list {}", file, needed);
  }
  return manifest;
}

}  // namespace

// Reads only small files and headers, so this takes milliseconds even for a checkpoint of gigabytes.
CheckpointSummary read_checkpoint(const std::string& path) {
  CheckpointSummary summary{.path = path, .manifest = read_manifest(path)};
  const std::string run = path + "/" + kRunFile;
  summary.run = parse_run_record(read_text_file(run), run);
  // Parsing a header checks the names, sizes and offsets of the tensors, but not their values.
  summary.model = SafetensorsFile(path + "/" + kModelFile).header();
  if (summary.manifest.files.contains(kOptimizerFile)) {
    summary.optimizer = SafetensorsFile(path + "/" + kOptimizerFile).header();
  }
  if (summary.manifest.files.contains(kStateFile)) {
    summary.state = SafetensorsFile(path + "/" + kStateFile).header();
  }
  for (const auto& [name, digest] : summary.manifest.files) summary.bytes += digest.bytes;
  return summary;
}

std::vector<std::string> verify_checkpoint(const std::string& path) {
  try {
    std::vector<std::string> problems = verify_files(read_manifest(path), path);
    // The files match their hashes, but their content can still be malformed.
    if (problems.empty()) read_checkpoint(path);
    return problems;
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

std::string checkpoint_name(std::uint64_t step) { return fmt::format("{}{:08}", kPrefix, step); }

std::optional<std::uint64_t> step_of_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  // The name is "step-00002000", perhaps with a suffix ".2" that distinguishes it from another run's checkpoint of the
  // same step.
  const auto step = take_number(name);
  if (!step) return {};
  if (name.empty()) return step;
  if (!name.starts_with('.')) return {};
  name.remove_prefix(1);
  return take_number(name) && name.empty() ? step : std::nullopt;
}

std::vector<std::string> list_checkpoints(const std::string& directory) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const auto step = step_of_name(entry.path().filename().string());
    std::error_code gone;
    // Links such as "last" are left out, because they refer to checkpoints that are in the list anyway.
    if (step && entry.is_directory(gone) && !entry.is_symlink(gone)) found.emplace_back(*step, entry.path().string());
  }
  // The order is by step, not by name. The two orders differ after step 99999999, because names have 8 digits at least.
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [step, path] : found) paths.push_back(std::move(path));
  return paths;
}

std::optional<std::string> follow_pointer(const std::string& directory, const std::string& pointer) {
  std::error_code error;
  const std::string target = fs::read_symlink(fs::path(directory) / pointer, error).string();
  // The target must be the plain name of a checkpoint, so the link cannot lead out of its directory.
  if (error || !step_of_name(target)) return {};
  return (fs::path(directory) / target).string();
}

// Prefers the link "last" to the largest step: if a run was resumed from an older checkpoint, the newest checkpoint
// does not have the largest step.
std::string find_checkpoint(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(fs::path(path) / kManifestFile, ignored)) return path;
  const std::vector<std::string> found = list_checkpoints(path);
  if (const auto last = follow_pointer(path, "last"); last && fs::exists(*last, ignored)) return *last;
  if (!found.empty()) return found.back();
  throw Error(Code::kNotFound, "no checkpoint at {}: neither {} nor a directory {}... is in it", path, kManifestFile,
              checkpoint_name(0).substr(0, kPrefix.size()));
}

}  // namespace trainyard::checkpoints
