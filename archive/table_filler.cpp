// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "archive/metrics_source.h"

namespace trainyard::archive {

TableFiller::TableFiller(std::string stage, const MetricsLimits& limits)
    : table_(std::make_unique<MetricsTable>()), limits_(limits) {
  table_->stage = std::move(stage);
}

std::size_t TableFiller::series(std::string_view name) {
  std::vector<Series>& all = table_->series;
  if (next_ < all.size() && all[next_].name == name) return next_++;
  const auto found = std::ranges::find(all, name, &Series::name);
  const auto index = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) {
    if (all.size() >= limits_.columns) {
      table_->truncated = true;
      return kNone;
    }
    all.push_back({std::string(name), {}, {}});
  }
  next_ = index + 1;
  return index;
}

bool TableFiller::add_row(std::uint64_t step, std::int64_t time_ns, std::uint64_t samples) {
  next_ = 0;
  if (table_->rows() >= limits_.rows) {
    table_->truncated = true;
    return false;
  }
  table_->steps.push_back(step);
  table_->times_ns.push_back(time_ns);
  table_->samples.push_back(samples);
  return true;
}

void TableFiller::set(std::size_t series, double value) {
  if (series == kNone) return;
  if (++cells_ > limits_.cells) {
    table_->truncated = true;
    return;
  }
  Series& target = table_->series[series];
  const auto row = static_cast<std::uint32_t>(table_->rows() - 1);
  // If a row names the same metric twice, the first value counts, as in the logger.
  if (!target.rows.empty() && target.rows.back() == row) return;
  target.rows.push_back(row);
  target.values.push_back(value);
}

}  // namespace trainyard::archive
