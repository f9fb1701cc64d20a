// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/manifest.h"

#include <fmt/format.h>

#include "checkpoints/json_input.h"
#include "messages/error.h"

namespace trainyard::checkpoints {
namespace {

using nlohmann::json;

/// Returns true if the name cannot lead out of the directory.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace

std::string format_manifest(const Manifest& manifest) {
  nlohmann::ordered_json files = nlohmann::ordered_json::object();
  for (const auto& [name, digest] : manifest.files) files[name] = {{"bytes", digest.bytes}, {"sha256", digest.sha256}};
  const nlohmann::ordered_json root = {
      {"format", manifest.format}, {"trainyard", manifest.trainyard}, {"files", std::move(files)}};
  return root.dump(2) + "\n";
}

Manifest parse_manifest(const std::string& text, const std::string& where) {
  const json root = parse_strict_json(text, where);
  Manifest manifest{.format = unsigned_member(root, "format", where)};
  // The version of the format is checked first, because the rest of a newer manifest may be different.
  if (manifest.format > kCheckpointFormat) {
    throw Error(Code::kUnsupported, "{}: checkpoint format {}; this version reads up to {}", where, manifest.format,
                kCheckpointFormat);
  }
  manifest.trainyard = string_member(root, "trainyard", where);
  const json& files = member(root, "files", where);
  if (!files.is_object()) throw Error(Code::kCorrupt, "{}: 'files' is not an object", where);
  for (const auto& [name, value] : files.items()) {
    if (!is_plain_name(name)) throw Error(Code::kCorrupt, "{}: '{}' is not a plain file name", where, name);
    manifest.files[name] = {unsigned_member(value, "bytes", where), string_member(value, "sha256", where)};
  }
  return manifest;
}

std::vector<std::string> verify_files(const Manifest& manifest, const std::string& directory) {
  std::vector<std::string> problems;
  for (const auto& [name, expected] : manifest.files) {
    const std::string path = directory + "/" + name;
    try {
      const FileDigest found = digest_file(path);
      if (found.bytes != expected.bytes) {
        // A wrong length is reported rather than the wrong hash, because it shows that the file was cut off.
        problems.push_back(fmt::format("{} has {} bytes, the manifest says {}", path, found.bytes, expected.bytes));
      } else if (found.sha256 != expected.sha256) {
        problems.push_back(fmt::format("{} was changed: its SHA-256 is {}, the manifest says {}", path, found.sha256,
                                       expected.sha256));
      }
    } catch (const Error& error) {
      problems.push_back(error.what());
    }
  }
  return problems;
}

}  // namespace trainyard::checkpoints
