// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoints/sha256.h"

namespace trainyard::checkpoints {

/// The version of the checkpoint format. Readers refuse a checkpoint with a newer version.
constexpr std::uint64_t kCheckpointFormat = 2;

/// The list of a checkpoint's files, `manifest.json`, which is written last. A directory without this file is not a
/// checkpoint.
struct Manifest {
  std::uint64_t format = kCheckpointFormat;
  std::string trainyard;                    ///< The version of Trainyard that wrote the checkpoint.
  std::map<std::string, FileDigest> files;  ///< The digests of the files. The keys are plain file names.
};

/// Returns the text of manifest.json, indented for readability.
std::string format_manifest(const Manifest& manifest);

/// Parses the text of a manifest. Throws kCorrupt if the text is malformed or a key of `files` is not a plain file
/// name, and kUnsupported for a newer format. The text of the error begins with `where`.
Manifest parse_manifest(const std::string& text, const std::string& where);

/// Reads every file in `directory` that the manifest names, and returns one sentence for each file that is missing,
/// unreadable or changed. The list is empty if all files match their digests. Files that the manifest does not name are
/// ignored.
std::vector<std::string> verify_files(const Manifest& manifest, const std::string& directory);

}  // namespace trainyard::checkpoints
