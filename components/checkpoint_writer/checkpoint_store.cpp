// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/checkpoint_store.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "checkpoints/checkpoint_reader.h"
#include "checkpoints/durable_file.h"
#include "checkpoints/json_input.h"
#include "components/checkpoint_writer/temporary_checkpoint.h"
#include "messages/error.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

checkpoints::FileDigest write_text(const std::string& path, const std::string& text) {
  checkpoints::DurableFile file(path);
  file.write(text);
  return file.close();
}

}  // namespace

// A value that is not finite is ignored, so that a checkpoint of a diverged run can never be the best one.
std::optional<double> CheckpointStore::value_of(const std::vector<Scalar>& metrics) const {
  for (const Scalar& scalar : metrics) {
    if (scalar.name == options_.monitor && std::isfinite(scalar.value)) return scalar.value;
  }
  return {};
}

void CheckpointStore::adopt(std::uint64_t resumed_step) {
  for (const std::string& path : checkpoints::list_checkpoints(options_.directory)) {
    StoredCheckpoint found{.path = path, .step = checkpoints::step_of_name(file_name(path)).value_or(0)};
    try {
      found.value = value_of(
          checkpoints::parse_run_record(checkpoints::read_text_file(path + "/" + checkpoints::kRunFile), path).metrics);
    } catch (const Error&) {
      // A broken checkpoint has no metric. It can be deleted like the others.
    }
    stored_.push_back(std::move(found));
  }
  // `stored_` is in the order of writing, and the first ones are deleted first. So checkpoints of steps after the
  // resumed one are moved to the beginning.
  std::stable_partition(stored_.begin(), stored_.end(), [&](const auto& found) { return found.step > resumed_step; });
}

void CheckpointStore::describe(std::string model, std::string optimizer,
                               std::map<std::string, double> hyperparameters) {
  model_ = std::move(model);
  optimizer_ = std::move(optimizer);
  hyperparameters_ = std::move(hyperparameters);
}

// All values are those of the snapshot, except that the time is the time of writing.
checkpoints::RunRecord CheckpointStore::record_of(const Snapshot& snapshot) const {
  return {.step = snapshot.step,
          .epoch = snapshot.epoch,
          .samples = snapshot.samples,
          .cursor = snapshot.cursor,
          .skipped_steps = snapshot.skipped_steps,
          .ranks = options_.ranks,
          .metrics = snapshot.metrics,
          .settings = snapshot.settings,
          .states = snapshot.states,
          .reason = snapshot.reason,
          .model = model_,
          .optimizer = optimizer_,
          .hyperparameters = hyperparameters_,
          .time = checkpoints::utc_now()};
}

std::vector<CheckpointStore::TensorFile> CheckpointStore::files_of(const StateCopy& state) const {
  const StateLayout& layout = state.layout();
  std::map<std::string, std::string> metadata = {{"format", "trainyard"},
                                                 {"trainyard", TRAINYARD_VERSION},
                                                 {"step", std::to_string(state.snapshot().step)},
                                                 {"model", model_}};
  std::vector<TensorFile> files;
  files.push_back({checkpoints::kModelFile, state.tensors(layout.model), layout.model, metadata});
  if (options_.save_optimizer && !layout.optimizer.empty()) {
    files.push_back({checkpoints::kOptimizerFile, state.tensors(layout.optimizer), layout.optimizer, metadata});
    files.back().metadata["rule"] = optimizer_;  // Only the optimizer's file has this entry.
  }
  if (auto tensors = state.state_tensors(); !tensors.empty()) {
    files.push_back({checkpoints::kStateFile, std::move(tensors), layout.own, metadata});
  }
  return files;
}

std::unique_ptr<SharedCheckpoint> CheckpointStore::share(const StateCopy& state) const {
  auto shared =
      std::make_unique<SharedCheckpoint>(options_.directory, checkpoints::checkpoint_name(state.snapshot().step));
  for (const TensorFile& file : files_of(state)) {
    shared->add_file(file.name, file.tensors, state.layout(), file.slices, file.metadata);
  }
  return shared;
}

// The manifest is written last, so a checkpoint without a manifest is known to be incomplete.
std::uint64_t CheckpointStore::complete(const StateCopy& state, const std::string& directory,
                                        std::map<std::string, checkpoints::FileDigest> files) const {
  const auto in = [&](const char* name) { return directory + "/" + name; };
  checkpoints::Manifest manifest{.trainyard = TRAINYARD_VERSION, .files = std::move(files)};
  manifest.files[checkpoints::kRunFile] =
      write_text(in(checkpoints::kRunFile), checkpoints::format_run_record(record_of(state.snapshot())));
  std::uint64_t bytes = write_text(in(checkpoints::kManifestFile), checkpoints::format_manifest(manifest)).bytes;
  for (const auto& [name, digest] : manifest.files) bytes += digest.bytes;
  return bytes;
}

// A second checkpoint of the same step contains the same state with newer metrics, so it replaces the first one.
std::string CheckpointStore::publish(TemporaryCheckpoint& temporary, const std::string& name) const {
  return temporary.publish(
      std::any_of(stored_.begin(), stored_.end(), [&](const auto& stored) { return file_name(stored.path) == name; }));
}

CheckpointStore::Written CheckpointStore::write(const StateCopy& state) {
  const std::uint64_t step = state.snapshot().step;
  const std::string name = checkpoints::checkpoint_name(step);
  Written written;
  if (SharedCheckpoint* shared = state.shared()) {
    TemporaryCheckpoint& temporary = shared->temporary();
    written.bytes = complete(state, temporary.path(), shared->finish());
    written.path = publish(temporary, name);
  } else {
    TemporaryCheckpoint temporary(options_.directory, name);
    std::map<std::string, checkpoints::FileDigest> files;
    for (const TensorFile& file : files_of(state)) {
      files[file.name] =
          checkpoints::write_safetensors(temporary.path() + "/" + file.name, file.tensors, file.metadata);
    }
    written.bytes = complete(state, temporary.path(), std::move(files));
    written.path = publish(temporary, name);
  }
  // Now the checkpoint is safe, so problems from here on are only warnings.
  remember({.path = written.path, .step = step, .value = value_of(state.snapshot().metrics)});
  tidy(written.warnings);
  return written;
}

// Adds a checkpoint to the list. Removes an earlier one with the same path, and those that no longer exist on disk.
void CheckpointStore::remember(StoredCheckpoint checkpoint) {
  std::erase_if(stored_, [&](const auto& stored) {
    std::error_code unknown;
    return stored.path == checkpoint.path || (!fs::exists(stored.path, unknown) && !unknown);
  });
  stored_.push_back(std::move(checkpoint));
}

/// There is no link "best" while no checkpoint that is kept has a value of the monitored metric. With
/// RetentionRule::best = 0, this can happen again after the link was made.
void CheckpointStore::point_to_best(
    const std::vector<std::size_t>& doomed,
    const std::function<void(const char* pointer, const StoredCheckpoint& target)>& point,
    std::vector<std::string>& warnings) const {
  std::vector<StoredCheckpoint> kept;
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    if (!std::ranges::binary_search(doomed, i)) kept.push_back(stored_[i]);
  }
  if (const auto best = best_of(kept, options_.rule)) return point("best", kept[*best]);
  const auto target = checkpoints::follow_pointer(options_.directory, "best");
  if (!target || std::ranges::none_of(doomed, [&](std::size_t i) { return stored_[i].path == *target; })) return;
  std::error_code error;
  if (fs::remove(options_.directory + "/best", error); error) {
    warnings.push_back(fmt::format("cannot remove the link {}/best: {}", options_.directory, error.message()));
  }
}

/// Moves the links before it deletes anything, so that a link never refers to a deleted checkpoint. If a link cannot be
/// moved, the checkpoint to which it refers is kept. The others are still deleted; otherwise the disk would fill up.
void CheckpointStore::tidy(std::vector<std::string>& warnings) {
  std::vector<std::string> pointed_to;
  const auto point = [&](const char* pointer, const StoredCheckpoint& target) {
    try {
      set_pointer(options_.directory, pointer, file_name(target.path));
    } catch (const Error& error) {
      warnings.push_back(error.what());
      if (const auto kept = checkpoints::follow_pointer(options_.directory, pointer)) pointed_to.push_back(*kept);
    }
  };
  point("last", stored_.back());
  const std::vector<std::size_t> doomed = to_delete(stored_, options_.rule);
  point_to_best(doomed, point, warnings);
  // Deletes from the end, so that the remaining indices stay valid.
  for (auto index = doomed.rbegin(); index != doomed.rend(); ++index) {
    if (std::ranges::count(pointed_to, stored_[*index].path) != 0) continue;
    try {
      remove_checkpoint(stored_[*index].path);
    } catch (const Error& error) {
      warnings.push_back(error.what());
    }
    stored_.erase(stored_.begin() + static_cast<std::ptrdiff_t>(*index));
  }
}

}  // namespace trainyard
