// SPDX-License-Identifier: Apache-2.0
#include "viewer/columns.h"

#include <algorithm>
#include <bit>

#include "archive/metrics_table.h"

namespace trainyard::viewer {
namespace {

constexpr std::uint64_t kAbsentBits = 0x7ff8'0000'0ab5'e47e;

/// Removes the elements for which `rows` contains false.
template <class T>
void filter(std::vector<T>& values, const std::vector<bool>& rows) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (rows[i]) values[kept++] = values[i];
  }
  values.resize(kept);
}

}  // namespace

double absent() { return std::bit_cast<double>(kAbsentBits); }
bool is_absent(double value) { return std::bit_cast<std::uint64_t>(value) == kAbsentBits; }

bool Columns::add(const Metrics& metrics) {
  const std::int64_t time_us = metrics.time_ns / 1000;
  std::size_t row = rows();
  if (row > 0 && time_us <= times_us_.back()) {
    row = static_cast<std::size_t>(std::ranges::upper_bound(times_us_, time_us) - times_us_.begin());
    for (std::size_t i = row; i > 0 && times_us_[i - 1] == time_us; --i) {
      if (steps_[i - 1] == static_cast<double>(metrics.step)) return false;
    }
  }
  insert_at(row, metrics, time_us);
  if (rows() > kMaxRows) thin();
  return true;
}

const Column* Columns::find(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  return found == columns_.end() ? nullptr : &*found;
}

Column* Columns::column(const std::string& name) {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  if (found != columns_.end()) return &*found;
  if (columns_.size() >= kMaxMetrics) return nullptr;
  columns_.push_back({name, std::vector<double>(rows(), absent())});
  return &columns_.back();
}

void Columns::insert_at(std::size_t row, const Metrics& metrics, std::int64_t time_us) {
  const auto put = [row](auto& values, auto value) {
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(row), value);
  };
  put(steps_, static_cast<double>(metrics.step));
  put(times_us_, time_us);
  put(times_, static_cast<double>(time_us) / 1e6);
  put(samples_, static_cast<double>(metrics.samples));
  for (Column& column : columns_) put(column.values, absent());
  for (const Scalar& scalar : metrics.values) {
    Column* const target = column(scalar.name);
    if (target == nullptr) continue;
    if (is_absent(target->values[row])) ++target->present;
    target->values[row] = scalar.value;
  }
  const auto ascends = [row](const std::vector<double>& values) {
    return (row == 0 || values[row - 1] <= values[row]) && (row + 1 >= values.size() || values[row] <= values[row + 1]);
  };
  steps_ascend_ = steps_ascend_ && ascends(steps_);
  samples_ascend_ = samples_ascend_ && ascends(samples_);
}

void Columns::drop_repeated_steps() {
  if (steps_ascend_) return;
  keep(archive::rows_in_effect(std::vector<std::uint64_t>(steps_.begin(), steps_.end())));
  steps_ascend_ = std::ranges::is_sorted(steps_);
  samples_ascend_ = std::ranges::is_sorted(samples_);
}

void Columns::thin() {
  std::vector<bool> every_second(rows());
  for (std::size_t i = 0; i < every_second.size(); i += 2) every_second[i] = true;
  keep(every_second);
}

void Columns::keep(const std::vector<bool>& rows) {
  filter(steps_, rows);
  filter(times_us_, rows);
  filter(times_, rows);
  filter(samples_, rows);
  for (Column& column : columns_) {
    filter(column.values, rows);
    column.present =
        static_cast<std::size_t>(std::ranges::count_if(column.values, [](double value) { return !is_absent(value); }));
  }
}

}  // namespace trainyard::viewer
