// SPDX-License-Identifier: Apache-2.0
#include "archive/metrics_reader.h"

#include <algorithm>
#include <filesystem>

#include "archive/metrics_source.h"
#include "archive/output_files.h"
#include "core/files/regular_file.h"
#include "messages/error.h"

namespace trainyard::archive {

namespace fs = std::filesystem;

MetricsReader::MetricsReader(std::string path, const MetricsLimits& limits) : path_(std::move(path)), limits_(limits) {
  if (!core::is_there(path_)) throw Error(Code::kNotFound, "{}: there is no such file or folder", path_);
}

MetricsReader::~MetricsReader() = default;

bool MetricsReader::update() {
  look_for_files();
  bool changed = false;
  for (const auto& source : sources_) changed = source->update() || changed;
  return changed;
}

// Is called by every update(), because the logger creates the file of a stage when the first metrics of the stage
// arrive.
void MetricsReader::look_for_files() {
  std::error_code none;
  std::vector<std::string> files{path_};
  if (fs::is_directory(path_, none)) files = metrics_files(path_, limits_.tables);
  // As soon as there are CSV files, they replace metrics.jsonl.
  std::erase_if(sources_, [&](const auto& source) { return std::ranges::find(files, source->path()) == files.end(); });
  for (const std::string& file : files) {
    const auto same = [&](const auto& source) { return source->path() == file; };
    if (std::ranges::any_of(sources_, same)) continue;
    sources_.push_back(file.ends_with(".jsonl") ? make_jsonl_source(file, limits_) : make_csv_source(file, limits_));
  }
}

std::vector<const MetricsTable*> MetricsReader::tables() const {
  std::vector<const MetricsTable*> all;
  for (const auto& source : sources_) {
    for (const MetricsTable* table : source->tables()) all.push_back(table);
  }
  const auto place = [](const MetricsTable* table) { return std::pair(table->stage != "train", table->stage); };
  std::ranges::sort(all, {}, place);
  return all;
}

const MetricsTable* MetricsReader::find(std::string_view stage) const {
  for (const MetricsTable* table : tables()) {
    if (table->stage == stage) return table;
  }
  return nullptr;
}

}  // namespace trainyard::archive
