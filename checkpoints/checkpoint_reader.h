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

// Functions that look into checkpoints, without LibTorch and without a running pipeline (docs/checkpoint_format.md).

// The files of a checkpoint. The manifest lists the others with their hashes and is written last.
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kManifestFile = "manifest.json";

/// Everything about a checkpoint except its numbers.
struct CheckpointSummary {
  std::string path;
  Manifest manifest;
  RunRecord run;
  SafetensorsHeader model;
  std::optional<SafetensorsHeader> optimizer;
  std::uint64_t bytes = 0;  ///< The size of all files.
};

/// Reads the small files and the headers, and hashes nothing. Throws kNotFound, kIo, kCorrupt and kUnsupported.
CheckpointSummary read_checkpoint(const std::string& path);

/// What is wrong with a checkpoint, one sentence each; empty if it is complete. This reads every byte. It does not
/// throw for a broken checkpoint, however broken.
std::vector<std::string> verify_checkpoint(const std::string& path);

/// The name of a step's checkpoint, such as "step-00002000".
std::string checkpoint_name(std::uint64_t step);

/// The step of "step-00002000" or "step-00002000.2"; empty for other names.
std::optional<std::uint64_t> step_of_name(std::string_view name);

/// The paths of the checkpoints in a directory, smallest step first; empty if there is no such directory. Only names
/// are looked at.
std::vector<std::string> list_checkpoints(const std::string& directory);

/// Where the pointer "last" or "best" of a directory leads; empty if there is none or it leads outside.
std::optional<std::string> follow_pointer(const std::string& directory, const std::string& pointer);

/// What a person means by a path: a checkpoint itself, or the last one of a directory of checkpoints. Throws kNotFound.
std::string find_checkpoint(const std::string& path);

}  // namespace trainyard::checkpoints
