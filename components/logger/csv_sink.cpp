// SPDX-License-Identifier: Apache-2.0
#include "components/logger/csv_sink.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "components/logger/number_text.h"

namespace trainyard {
namespace {

constexpr std::string_view kOwnColumns[] = {"step", "epoch", "time", "samples"};

/// Returns the column for a metric. A metric whose name is that of a fixed column, such as "step", gets the prefix
/// "value_".
std::string_view column_of(const std::string& name, std::string_view units, std::string& renamed) {
  if (std::find(std::begin(kOwnColumns), std::end(kOwnColumns), name) == std::end(kOwnColumns) && name != units) {
    return name;
  }
  return renamed = "value_" + name;
}

}  // namespace

std::string file_name_part(std::string text) {
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
  }
  return text.empty() ? "unnamed" : text;
}

CsvFile& CsvSink::table_of(const std::string& stage) {
  // Tables are found by the stage, so that the name of the file is computed only once for each stage.
  CsvFile*& known = by_stage_[stage];
  if (known == nullptr) {
    const std::string name = file_name_part(stage);
    std::unique_ptr<CsvFile>& table = tables_[name];
    if (!table) table = std::make_unique<CsvFile>(directory_ + "/metrics_" + name + ".csv");
    known = table.get();
  }
  return *known;
}

void CsvSink::on(const Metrics& metrics) {
  CsvFile& table = table_of(metrics.stage);
  // All cells reuse the same string, so that logging a step allocates no memory.
  const auto cell = [&](std::string_view column, auto value) {
    scratch_.clear();
    append_exact(scratch_, value);
    table.set(column, scratch_);
  };
  cell("step", metrics.step);
  cell("epoch", metrics.epoch);
  scratch_.clear();
  append_seconds(scratch_, metrics.time_ns);
  table.set("time", scratch_);
  cell("samples", metrics.samples);
  // The column of units is named after the unit, such as "tokens". Samples already have a column.
  const std::string units = metrics.unit.empty() || metrics.unit == "sample" ? "samples" : metrics.unit + "s";
  if (units != "samples") cell(units, metrics.units);
  std::string renamed;
  for (const Scalar& scalar : metrics.values) cell(column_of(scalar.name, units, renamed), scalar.value);
  table.end_row();
}

void CsvSink::flush() {
  for (auto& [stage, table] : tables_) table->flush();
}

}  // namespace trainyard
