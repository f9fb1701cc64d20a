// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/resume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "checkpoints/checkpoint_reader.h"
#include "checkpoints/safetensors.h"
#include "core/state/packed_tensors.h"
#include "messages/error.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

/// Returns the step in a checkpoint's name; 0 for any other name.
std::uint64_t step_of(const std::string& path) {
  return checkpoints::step_of_name(fs::path(path).filename().string()).value_or(0);
}

/// Returns the checkpoint to which the link `pointer` refers, and all earlier ones, newest first. Checkpoints of later
/// steps are left out.
std::vector<std::string> pointer_and_before(const std::string& directory, const std::string& pointer) {
  std::vector<std::string> all = checkpoints::list_checkpoints(directory);
  std::reverse(all.begin(), all.end());
  const auto first = checkpoints::follow_pointer(directory, pointer);
  if (!first) return all;
  std::erase_if(all, [&](const std::string& path) { return path == *first || step_of(path) > step_of(*first); });
  all.insert(all.begin(), *first);
  return all;
}

/// Throws unless name, shape and dtype are equal. Values are never converted or truncated.
void check_same(const StateSlice& live, const checkpoints::SafetensorsEntry* saved, const std::string& path) {
  if (saved == nullptr) {
    throw Error(Code::kShapeMismatch, "{} has no tensor '{}'; this run has one of shape {}", path, live.name,
                to_text(live.shape));
  }
  if (saved->shape != live.shape) {
    throw Error(Code::kShapeMismatch, "{}: tensor '{}' has shape {}, this run's has {}", path, live.name,
                to_text(saved->shape), to_text(live.shape));
  }
  if (saved->dtype != live.dtype) {
    throw Error(Code::kTypeMismatch, "{}: tensor '{}' is {}, this run's is {}", path, live.name, name_of(saved->dtype),
                name_of(live.dtype));
  }
}

/// Checks all tensors before any memory is changed, so that a run never continues with half of a checkpoint.
void check_all(const checkpoints::SafetensorsFile& file, const std::vector<StateSlice>& slices) {
  for (const StateSlice& slice : slices) check_same(slice, file.header().find(slice.name), file.path());
  // All tensors of the run are in the file. If the numbers of tensors are equal, too, nothing is left over; otherwise
  // the loop finds the surplus tensor.
  if (file.header().tensors.size() == slices.size()) return;
  std::set<std::string_view> known;
  for (const StateSlice& slice : slices) known.insert(slice.name);
  for (const checkpoints::SafetensorsEntry& entry : file.header().tensors) {
    if (!known.contains(entry.name)) {
      throw Error(Code::kShapeMismatch, "{} has a tensor '{}' of shape {}; this run has none of that name", file.path(),
                  entry.name, to_text(entry.shape));
    }
  }
}

/// Reads the part of a tensor that is in this piece of its block.
void fill_piece(const checkpoints::SafetensorsFile& file, const StateSlice& slice, const StatePiece& piece) {
  const std::size_t first = std::max(slice.offset, piece.offset);
  const std::size_t end = std::min(slice.offset + slice.bytes, piece.offset + piece.data.bytes());
  if (first >= end) return;
  const std::span<std::byte> into(piece.data.data() + (first - piece.offset), end - first);
  file.read(*file.header().find(slice.name), into, first - slice.offset);
}

/// Reads tensors directly into the memory that the accelerator hosts and the optimizers use.
void fill(const checkpoints::SafetensorsFile& file, const std::vector<StateSlice>& slices, const StateLayout& layout,
          std::set<std::size_t>& filled) {
  for (const StateSlice& slice : slices) {
    filled.insert(slice.block);
    const StateBlock& block = layout.blocks[slice.block];
    for (const auto* pieces : {&block.pieces, &block.replicas}) {
      for (const StatePiece& piece : *pieces) fill_piece(file, slice, piece);
    }
  }
}

/// Returns the slices of the separate optimizer states of ranks that the checkpoint contains. If there were fewer
/// ranks, the others keep the state of rank 0, and `warn` is called.
std::vector<StateSlice> check_own(const checkpoints::CheckpointSummary& summary, const StateLayout& layout,
                                  const std::function<void(const std::string&)>& warn) {
  std::size_t missing = 0;
  std::vector<StateSlice> present;
  if (!summary.optimizer) return present;
  for (const StateSlice& slice : layout.own) {
    const checkpoints::SafetensorsEntry* saved = summary.state ? summary.state->find(slice.name) : nullptr;
    if (saved == nullptr) {
      ++missing;
      continue;
    }
    check_same(slice, saved, summary.path + "/" + checkpoints::kStateFile);
    present.push_back(slice);
  }
  if (missing > 0) {
    warn(fmt::format("{} has no optimizer state for some of the ranks; they begin with that of rank 0", summary.path));
  }
  return present;
}

/// Returns the description of a state's tensor in the file state.safetensors.
const checkpoints::SafetensorsEntry& entry_of(const checkpoints::CheckpointSummary& summary, const SavedState& state,
                                              const StateTensor& tensor) {
  const std::string name = checkpoints::state_tensor_name(state, tensor.name);
  const checkpoints::SafetensorsEntry* entry = summary.state ? summary.state->find(name) : nullptr;
  if (entry != nullptr) return *entry;
  throw Error(Code::kCorrupt, "{}: {} lists a tensor '{}', which {} does not have", summary.path, checkpoints::kRunFile,
              name, checkpoints::kStateFile);
}

/// Reads the tensors of the states into newly allocated memory. The tensors share buffers, because one message contains
/// the states of all ranks.
void load_states(const checkpoints::CheckpointSummary& summary, std::vector<SavedState>& states) {
  std::vector<StateTensor*> missing;
  std::vector<const checkpoints::SafetensorsEntry*> entries;
  std::vector<Tensor> loaded;
  for (SavedState& state : states) {
    for (StateTensor& tensor : state.tensors) {
      if (!tensor.data.buffer.empty()) continue;  // In format 1, run.json contains the tensors.
      const checkpoints::SafetensorsEntry& entry = entry_of(summary, state, tensor);
      missing.push_back(&tensor);
      entries.push_back(&entry);
      loaded.push_back({.dtype = entry.dtype, .shape = entry.shape, .buffer = {}});
    }
  }
  if (missing.empty()) return;
  allocate_together(loaded);
  const checkpoints::SafetensorsFile file(summary.path + "/" + checkpoints::kStateFile);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (const std::size_t bytes = loaded[i].bytes(); bytes > 0) file.read(*entries[i], {loaded[i].data(), bytes});
    missing[i]->data = std::move(loaded[i]);
  }
}

Resumed load(const std::string& path, const StateLayout& layout, const std::function<void(const std::string&)>& warn) {
  const checkpoints::CheckpointSummary summary = checkpoints::read_checkpoint(path);
  Resumed resumed{path, summary.run, {}};
  load_states(summary, resumed.run.states);
  const std::vector<StateSlice> own = check_own(summary, layout, warn);
  const checkpoints::SafetensorsFile model(path + "/" + checkpoints::kModelFile);
  // All files are checked before any memory is changed.
  check_all(model, layout.model);
  if (summary.optimizer && !layout.optimizer.empty()) {
    const checkpoints::SafetensorsFile optimizer(path + "/" + checkpoints::kOptimizerFile);
    check_all(optimizer, layout.optimizer);
    fill(optimizer, layout.optimizer, layout, resumed.filled);
  } else if (summary.optimizer) {
    // Not an error, because an evaluation needs no optimizer.
    warn(fmt::format("{} holds state of the optimizer '{}', which this run does not use", path, summary.run.optimizer));
  } else if (!layout.optimizer.empty()) {
    warn(fmt::format("{} holds no optimizer state; the optimizer begins anew", path));
  }
  fill(model, layout.model, layout, resumed.filled);
  if (!own.empty())
    fill(checkpoints::SafetensorsFile(path + "/" + checkpoints::kStateFile), own, layout, resumed.filled);
  return resumed;
}

}  // namespace

std::vector<std::string> resume_candidates(const std::string& what, const std::string& directory) {
  std::error_code ignored;
  std::vector<std::string> candidates;
  // `what` is "auto", "last", "best", the path of a checkpoint, or the path of another directory.
  if (what == "auto") return pointer_and_before(directory, "last");
  if (what == "last" || what == "best") {
    candidates = pointer_and_before(directory, what);
  } else if (fs::exists(fs::path(what) / checkpoints::kManifestFile, ignored) ||
             checkpoints::step_of_name(fs::path(what).filename().string())) {
    candidates = {what};
  } else {
    candidates = pointer_and_before(what, "last");
  }
  if (!candidates.empty()) return candidates;
  throw Error(Code::kNotFound,
              "resume = '{}': there is no checkpoint in {}; allowed are '', 'last', 'best', 'auto' and a path", what,
              what == "last" || what == "best" ? directory : what);
}

Resumed resume_from(const std::vector<std::string>& candidates, const StateLayout& layout,
                    const std::function<void(const std::string&)>& warn) {
  std::vector<std::string> reasons;
  // Every byte is read twice, once to verify the hashes and once to fill the memory. This is acceptable, because a run
  // resumes only once.
  for (const std::string& path : candidates) {
    const std::vector<std::string> problems = checkpoints::verify_checkpoint(path);
    // If a complete checkpoint does not fit the run, load() throws, because the user has probably mixed up runs.
    if (problems.empty()) return load(path, layout, warn);
    reasons.push_back(fmt::format("{} is broken: {}", path, fmt::join(problems, "; ")));
    warn(reasons.back());
  }
  throw Error(Code::kCorrupt, "no checkpoint to resume from is whole: {}", fmt::join(reasons, "; "));
}

}  // namespace trainyard
