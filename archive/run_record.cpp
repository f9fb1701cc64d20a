// SPDX-License-Identifier: Apache-2.0
#include "archive/run_record.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include "archive/output_files.h"
#include "archive/small_file.h"
#include "core/files/regular_file.h"
#include "messages/error.h"

namespace trainyard::archive {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRecordBytes = 4 << 20;

/// Returns the numbers of the newest launches, in ascending order, at most `most` of them.
std::vector<std::uint32_t> launch_numbers(const std::string& directory, std::size_t most) {
  std::vector<std::uint32_t> numbers;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(fs::path(directory) / "launches", none)) {
    const std::string name = entry.path().filename();
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  if (numbers.size() > most) numbers.erase(numbers.begin(), numbers.end() - static_cast<std::ptrdiff_t>(most));
  return numbers;
}

RunRecord read_at(const std::string& directory, std::string name, const SearchLimits& limits) {
  RunRecord run{std::move(name), directory, {}, {}};
  for (const std::uint32_t number : launch_numbers(directory, limits.launches)) {
    const std::string path = launch_folder(directory, number) + "/launch.json";
    try {
      run.launches.push_back(parse_launch_record(read_small_file(path, kMostRecordBytes), path));
    } catch (const Error& error) {
      run.unreadable.push_back(error.what());
    }
  }
  return run;
}

/// Searches a folder and the folders below it for output directories.
class Search {
 public:
  Search(fs::path root, const SearchLimits& limits) : root_(std::move(root)), limits_(limits) {}

  std::vector<RunRecord> run() {
    look(root_, 0);
    std::ranges::sort(runs_, {}, &RunRecord::name);
    return std::move(runs_);
  }

 private:
  void look(const fs::path& folder, std::size_t depth) {
    if (++looked_ > limits_.folders) return;
    if (is_output_directory(folder)) {
      runs_.push_back(read_at(folder, name_of_run(folder), limits_));
      return;
    }
    if (depth == limits_.depth) return;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      if (entry.is_directory(none) && !entry.is_symlink(none)) look(entry.path(), depth + 1);
    }
  }

  std::string name_of_run(const fs::path& folder) const {
    if (folder != root_) return folder.lexically_relative(root_);
    const fs::path whole = fs::absolute(folder).lexically_normal();
    return whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  }

  fs::path root_;
  SearchLimits limits_;
  std::size_t looked_ = 0;
  std::vector<RunRecord> runs_;
};

}  // namespace

bool is_output_directory(const std::string& folder) {
  std::error_code none;
  return fs::is_directory(folder + "/launches", none) || !metrics_files(folder, 1).empty() ||
         fs::is_directory(folder + "/checkpoints", none);
}

std::vector<RunRecord> find_runs(const std::string& folder, const SearchLimits& limits) {
  std::error_code none;
  if (!core::is_there(folder)) throw Error(Code::kNotFound, "{}: there is no such folder", folder);
  if (!fs::is_directory(folder, none)) throw Error(Code::kInvalidArgument, "{}: is not a folder", folder);
  return Search(folder, limits).run();
}

std::uint32_t next_launch_number(const std::string& output_directory) {
  const std::vector<std::uint32_t> numbers = launch_numbers(output_directory, 1);
  return numbers.empty() ? 1 : numbers.back() + 1;
}

RunRecord read_run(const std::string& directory, const SearchLimits& limits) {
  if (!is_output_directory(directory)) {
    throw Error(Code::kNotFound,
                "{}: is not the output directory of a run, which contains launches/, metrics_<stage>.csv, "
                "metrics.jsonl or checkpoints/",
                directory);
  }
  const fs::path whole = fs::absolute(directory).lexically_normal();
  return read_at(directory, whole.has_filename() ? whole.filename() : whole.parent_path().filename(), limits);
}

std::optional<std::uint64_t> last_step(const RunRecord& run, std::size_t index, const MetricsTable& table) {
  const std::int64_t from = run.launches[index].started_ns;
  const bool newest = index + 1 == run.launches.size();
  const std::int64_t to = newest ? std::numeric_limits<std::int64_t>::max() : run.launches[index + 1].started_ns;
  for (std::size_t row = table.rows(); row-- > 0;) {
    if (table.times_ns[row] >= from && table.times_ns[row] < to) return table.steps[row];
  }
  return std::nullopt;
}

}  // namespace trainyard::archive
