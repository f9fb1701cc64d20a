// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoints/manifest.h"
#include "checkpoints/run_record.h"
#include "checkpoints/safetensors_header.h"

namespace trainyard::checkpoints {

// Functions that read and check checkpoints (docs/checkpoint_format.md). They need neither LibTorch nor a running
// launch.

// The names of the files of a checkpoint. The manifest lists the other files with their hashes and is written last.
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kStateFile = "state.safetensors";
inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kManifestFile = "manifest.json";

/// Everything about a checkpoint except the values of its tensors.
struct CheckpointSummary {
  std::string path;
  Manifest manifest;
  RunRecord run;
  SafetensorsHeader model;
  /// The header of optimizer.safetensors; empty if the checkpoint has no such file.
  std::optional<SafetensorsHeader> optimizer;
  /// The header of state.safetensors, which contains the tensors of RunRecord::states and the optimizer state that
  /// belongs to individual ranks. Empty if the checkpoint has no such file.
  std::optional<SafetensorsHeader> state;
  std::uint64_t bytes = 0;  ///< The size of all files in the manifest together.
};

/// Reads the manifest, the run record and the headers of the tensor files of the checkpoint at `path`. Does not check
/// the hashes of the files. Throws kNotFound if a file is missing, kIo if a file cannot be read, kCorrupt if a file is
/// malformed, and kUnsupported for a newer format or an unknown dtype.
CheckpointSummary read_checkpoint(const std::string& path);

/// Reads every file in the manifest of a checkpoint completely, and returns one sentence for each problem found. The
/// list is empty if the checkpoint is complete and unchanged. For a broken or missing checkpoint, this function returns
/// the problem instead of throwing.
std::vector<std::string> verify_checkpoint(const std::string& path);

/// Returns the name of a step's checkpoint, such as "step-00002000".
std::string checkpoint_name(std::uint64_t step);

/// Returns the step in the name of a checkpoint, such as "step-00002000". The name can have a suffix such as ".2",
/// which distinguishes it from another checkpoint of the same step. Returns an empty optional for other names.
std::optional<std::uint64_t> step_of_name(std::string_view name);

/// Returns the paths of the checkpoints in a directory, smallest step first. Links such as "last" are left out. The
/// content of the checkpoints is not examined, so the list can contain incomplete checkpoints. The list is empty if
/// there is no such directory.
std::vector<std::string> list_checkpoints(const std::string& directory);

/// Returns the path of the checkpoint that the link `pointer` ("last" or "best") in a directory refers to. Returns an
/// empty optional if there is no such link, or if its target is anything but the name of a checkpoint in this
/// directory. Does not check that the checkpoint exists.
std::optional<std::string> follow_pointer(const std::string& directory, const std::string& pointer);

/// Returns `path` if it is a checkpoint, that is, a directory with a manifest. If `path` is a directory of checkpoints,
/// returns the checkpoint that "last" refers to or, if "last" does not lead to an existing checkpoint, the checkpoint
/// with the largest step. Throws kNotFound if there is no checkpoint.
std::string find_checkpoint(const std::string& path);

}  // namespace trainyard::checkpoints
