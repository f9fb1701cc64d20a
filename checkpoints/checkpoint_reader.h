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

// Functions that read and check checkpoints (docs/checkpoint_format.md). They need neither LibTorch nor a run.

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
  /// Empty if the run did not save the optimizer's state.
  std::optional<SafetensorsHeader> optimizer;
  /// The tensors of RunRecord::states, and any optimizer state of single ranks.
  std::optional<SafetensorsHeader> state;
  std::uint64_t bytes = 0;  ///< The size of all listed files together.
};

/// Reads the manifest, the run record and the headers of the tensor files. It does not check hashes. Throws kNotFound,
/// kIo, kCorrupt or kUnsupported.
CheckpointSummary read_checkpoint(const std::string& path);

/// Returns what is wrong with a checkpoint, in one sentence per problem; the list is empty if the checkpoint is
/// complete. Reads every byte. Does not throw for a broken checkpoint.
std::vector<std::string> verify_checkpoint(const std::string& path);

/// Returns the name of a step's checkpoint, such as "step-00002000".
std::string checkpoint_name(std::uint64_t step);

/// Returns the step in a name such as "step-00002000" or "step-00002000.2", or nothing for other names.
std::optional<std::uint64_t> step_of_name(std::string_view name);

/// Returns the paths of the checkpoints in a directory, smallest step first. Only the names of the directories are
/// examined, not their content. The list is empty if there is no such directory.
std::vector<std::string> list_checkpoints(const std::string& directory);

/// Returns the checkpoint that the pointer "last" or "best" of a directory refers to. Returns nothing if the pointer
/// does not exist or leads out of the directory.
std::optional<std::string> follow_pointer(const std::string& directory, const std::string& pointer);

/// Returns `path` if it is a checkpoint, or the path of the last checkpoint in it if it is a directory of checkpoints.
/// Otherwise throws kNotFound.
std::string find_checkpoint(const std::string& path);

}  // namespace trainyard::checkpoints
