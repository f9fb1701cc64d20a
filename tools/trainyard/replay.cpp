// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "archive/metrics_reader.h"
#include "archive/run_record.h"
#include "checkpoints/checkpoint_reader.h"
#include "messages/error.h"

namespace trainyard::tools {
namespace {

namespace fs = std::filesystem;

/// The metrics that a replay compares, which do not depend on time.
constexpr const char* kCompared[] = {"loss", "gradient_norm", "learning_rate", "loss_scale"};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Throws kInvalidArgument if a launch file has changed since the launch, because the replay would then be a different
/// run.
void check_unchanged(const archive::LaunchRecord& launch, const std::string& folder) {
  for (const archive::KeptFile& file : launch.files) {
    const std::string path = fs::path(launch.working_directory) / file.path;
    const std::string copy = folder + "/" + file.copy;
    if (!fs::is_regular_file(path)) {
      throw Error(Code::kInvalidArgument, "{}: the launch file is no longer there; its copy is {}", path, copy);
    }
    if (text_of(path) != text_of(copy)) {
      throw Error(Code::kInvalidArgument, "{}: has changed since the launch; what it was is in {}", path, copy);
    }
  }
}

/// Returns the table of the training metrics in an output directory, or an empty optional if there is none.
std::optional<archive::MetricsTable> training_of(const std::string& directory) {
  archive::MetricsReader reader(directory);
  reader.update();
  const archive::MetricsTable* table = reader.find("train");
  return table == nullptr ? std::nullopt : std::optional(*table);
}

/// Returns the row of `step`, or an empty optional if there is none. If launches have repeated the step, returns the
/// newest row.
std::optional<std::uint32_t> row_of(const archive::MetricsTable& table, std::uint64_t step) {
  const std::vector<bool> in_effect = archive::rows_in_effect(table);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (in_effect[row] && table.steps[row] == step) return static_cast<std::uint32_t>(row);
  }
  return std::nullopt;
}

std::optional<double> value_at(const archive::MetricsTable& table, std::uint32_t row, const char* name) {
  const archive::Series* series = table.find(name);
  if (series == nullptr) return std::nullopt;
  const auto found = std::ranges::lower_bound(series->rows, row);
  if (found == series->rows.end() || *found != row) return std::nullopt;
  return series->values[static_cast<std::size_t>(found - series->rows.begin())];
}

/// Returns the launch that computed the step: the last launch that began before the step was recorded.
const archive::LaunchRecord& launch_of(const archive::RunRecord& run, const archive::MetricsTable& table,
                                       std::uint64_t step) {
  const std::vector<bool> in_effect = archive::rows_in_effect(table);
  const archive::LaunchRecord* found = &run.launches.front();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!in_effect[row] || table.steps[row] < step) continue;
    for (const archive::LaunchRecord& launch : run.launches) {
      if (launch.started_ns <= table.times_ns[row]) found = &launch;
    }
    return *found;
  }
  const std::uint64_t last = table.rows() == 0 ? 0 : *std::ranges::max_element(table.steps);
  throw Error(Code::kNotFound, "{}: the run has not come to step {}; its last recorded step is {}", run.directory, step,
              last);
}

/// Returns the path of the newest checkpoint that was saved before the step, or an empty text if there is none.
std::string checkpoint_before(const std::string& directory, std::uint64_t step) {
  std::string found;
  for (const std::string& path : checkpoints::list_checkpoints(directory + "/checkpoints")) {
    const auto at = checkpoints::step_of_name(fs::path(path).filename().string());
    if (at && *at < step && checkpoints::verify_checkpoint(path).empty()) found = path;
  }
  return found;
}

/// Returns the key of an argument such as "run.max_steps=10", without "run.".
std::string_view key_of(std::string_view argument) {
  const std::string_view key = argument.substr(0, argument.find('='));
  return key.starts_with("run.") ? key.substr(4) : key;
}

/// Returns `arguments`, in which the arguments of `changed` replace those with the same keys.
std::vector<std::string> changed_arguments(const std::vector<std::string>& arguments,
                                           const std::vector<std::string>& changed) {
  std::vector<std::string> all;
  std::ranges::copy_if(arguments, std::back_inserter(all), [&](const std::string& argument) {
    return std::ranges::none_of(changed, [&](const std::string& c) { return key_of(c) == key_of(argument); });
  });
  all.insert(all.end(), changed.begin(), changed.end());
  return all;
}

}  // namespace

bool ReplayedMetric::same() const {
  return std::bit_cast<std::uint64_t>(recorded) == std::bit_cast<std::uint64_t>(computed) ||
         (std::isnan(recorded) && std::isnan(computed));
}

Replay prepare_replay(const std::string& directory, std::uint64_t step, const std::string& output) {
  const archive::RunRecord run = archive::read_run(directory);
  if (run.launches.empty()) {
    throw Error(Code::kNotFound, "{}: the run kept no record of its launch, so it cannot be replayed", directory);
  }
  const std::optional<archive::MetricsTable> table = training_of(directory);
  if (!table) throw Error(Code::kNotFound, "{}: the run recorded no training step", directory);
  const archive::LaunchRecord& launch = launch_of(run, *table, step);
  check_unchanged(launch, archive::launch_folder(directory, launch.number));

  Replay replay{.step = step,
                .working_directory = launch.working_directory,
                .directory = fs::absolute(directory),
                .output = fs::absolute(output.empty() ? fmt::format("{}/replay-{}", directory, step) : output),
                .checkpoint = checkpoint_before(fs::absolute(directory), step)};
  if (fs::exists(replay.output)) {
    throw Error(Code::kInvalidArgument, "{}: exists already; give another folder with --output, or remove it",
                replay.output);
  }
  replay.launch.file = launch.file;
  std::vector<std::string> changed{fmt::format("run.stop_at_step={}", step), "run.checkpoint_at_end=false",
                                   fmt::format("run.directory={}", replay.output),
                                   "component.accelerator_host.params.log_every_steps=1"};
  // If the run has no checkpoint writer, there is no checkpoint, and the replay begins at step 0.
  if (!replay.checkpoint.empty()) {
    changed.push_back("component.checkpoint_writer.params.resume=" + replay.checkpoint);
  }
  replay.launch.values = changed_arguments(launch.arguments, changed);
  return replay;
}

std::vector<ReplayedMetric> compare(const Replay& replay) {
  const auto recorded = training_of(replay.directory), computed = training_of(replay.output);
  const auto computed_row = computed ? row_of(*computed, replay.step) : std::nullopt;
  if (!computed_row) throw Error(Code::kNotFound, "the replay has not computed step {}", replay.step);
  const auto recorded_row = recorded ? row_of(*recorded, replay.step) : std::nullopt;
  std::vector<ReplayedMetric> found;
  for (const char* name : kCompared) {
    const auto before = recorded_row ? value_at(*recorded, *recorded_row, name) : std::nullopt;
    const auto now = value_at(*computed, *computed_row, name);
    if (before && now) found.push_back({name, *before, *now});
  }
  return found;
}

std::optional<double> replayed_loss(const Replay& replay) {
  const auto table = training_of(replay.output);
  const auto row = table ? row_of(*table, replay.step) : std::nullopt;
  return row ? value_at(*table, *row, "loss") : std::nullopt;
}

}  // namespace trainyard::tools
