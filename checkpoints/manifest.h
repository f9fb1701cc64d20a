#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoints/sha256.h"

namespace trainyard::checkpoints {

/// Version of the checkpoint format; a reader refuses a newer one.
constexpr std::uint64_t kCheckpointFormat = 1;

/// What a checkpoint consists of: `manifest.json`, written last. A checkpoint without it is none.
struct Manifest {
  std::uint64_t format = kCheckpointFormat;
  std::string trainyard;                    ///< Version that wrote it.
  std::map<std::string, FileDigest> files;  ///< By plain file name.
};

/// The text of manifest.json, indented for people.
std::string format_manifest(const Manifest& manifest);

/// Throws kCorrupt for broken text or a file name that leaves the directory, kUnsupported for a newer format.
Manifest parse_manifest(const std::string& text, const std::string& where);

/// Reads every file of the manifest and says what is wrong, one sentence each; empty if all is as it was written. Files
/// that the manifest does not name are not looked at.
std::vector<std::string> verify_files(const Manifest& manifest, const std::string& directory);

}  // namespace trainyard::checkpoints
