// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>

#include "archive/followed_file.h"
#include "archive/metrics_source.h"
#include "messages/error.h"

namespace trainyard::archive {

namespace {

/// What a column contains.
enum class Column : std::uint8_t { kStep, kTime, kSamples, kSeries };

template <class T>
bool parse(std::string_view cell, T& value) {
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size();
}

/// Parses seconds since 1970, such as "1732176886.123456". The digits are parsed as integers, because a double is too
/// imprecise for nanoseconds since 1970.
bool parse_time(std::string_view cell, std::int64_t& ns) {
  const std::size_t point = std::min(cell.find('.'), cell.size());
  std::int64_t seconds = 0;
  constexpr std::int64_t kMost = 9'000'000'000;  // Ten times as many seconds would overflow an int64 of nanoseconds.
  if (!parse(cell.substr(0, point), seconds) || seconds < 0 || seconds > kMost) return false;
  std::int64_t fraction = 0;
  std::int64_t unit = 100'000'000;
  for (std::size_t i = point + 1; i < cell.size(); ++i, unit /= 10) {
    if (cell[i] < '0' || cell[i] > '9') return false;
    fraction += unit * (cell[i] - '0');
  }
  ns = seconds * 1'000'000'000 + fraction;
  return true;
}

/// Returns the fields of a header line (RFC 4180). Inside quotation marks, commas and line ends are part of the field,
/// and two quotation marks stand for one.
std::vector<std::string> header_fields(std::string_view text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::string stage_of(const std::string& path) {
  constexpr std::string_view kPrefix = "metrics_";
  const std::string stem = std::filesystem::path(path).stem();
  return stem.starts_with(kPrefix) ? stem.substr(kPrefix.size()) : stem;
}

class CsvSource final : public MetricsSource {
 public:
  CsvSource(const std::string& path, const MetricsLimits& limits)
      : file_(path, limits.line_bytes), limits_(limits), filler_(stage_of(path), limits_) {}

  const std::string& path() const override { return file_.path(); }
  std::vector<const MetricsTable*> tables() const override { return {&filler_.table()}; }

  bool update() override {
    const bool again = file_.look();
    if (again) start_over();
    const std::size_t before = filler_.table().rows();
    if (!read_header()) return again;
    file_.read_lines([this](std::string_view line) { return read_row(line); });
    filler_.table().torn = file_.torn();
    filler_.table().damaged_lines = damaged_ + file_.skipped_lines();
    return again || filler_.table().rows() != before;
  }

 private:
  void start_over() {
    filler_ = TableFiller(filler_.table().stage, limits_);
    columns_.clear();
    header_.clear();
    damaged_ = 0;
  }

  // Returns false if the header is not complete yet. It can have several lines, because a quoted name can contain line
  // ends.
  bool read_header() {
    if (!columns_.empty()) return true;
    bool complete = false;
    file_.read_lines([&](std::string_view line) {
      header_ += (header_.empty() ? "" : "\n") + std::string(line);
      complete = std::ranges::count(header_, '"') % 2 == 0;
      return !complete && header_.size() < limits_.line_bytes;
    });
    if (!complete && header_.size() >= limits_.line_bytes) {
      throw Error(Code::kCorrupt, "{}: is no table of metrics: its first line is too long", path());
    }
    if (!complete) return false;
    for (const std::string& name : header_fields(header_)) add_column(name);
    if (std::ranges::find(columns_, Column::kStep) == columns_.end()) {
      throw Error(Code::kInvalidArgument, "{}: is no table of metrics: its first line names no column 'step'", path());
    }
    cells_.resize(columns_.size());
    if (limits_.tail_bytes != 0) file_.skip_to_tail(limits_.tail_bytes);
    return true;
  }

  void add_column(const std::string& name) {
    const Column column = name == "step"      ? Column::kStep
                          : name == "time"    ? Column::kTime
                          : name == "samples" ? Column::kSamples
                                              : Column::kSeries;
    columns_.push_back(column);
    series_.resize(columns_.size(), TableFiller::kNone);
    // Columns beyond the limit are not looked up, because series() searches all names for each column.
    if (column == Column::kSeries && columns_.size() <= limits_.columns + 3) {
      series_.back() = filler_.series(name);
    } else if (column == Column::kSeries) {
      filler_.table().truncated = true;
    }
  }

  // Parses the whole line before storing anything, so that a damaged line adds no row. Returns false if the table is
  // full.
  bool read_row(std::string_view line) {
    std::uint64_t step = 0, samples = 0;
    std::int64_t time_ns = 0;
    std::size_t i = 0;
    bool good = true;
    for (const char *at = line.data(), *end = at + line.size(); good && at <= end; ++i) {
      const auto* comma = static_cast<const char*>(std::memchr(at, ',', static_cast<std::size_t>(end - at)));
      const std::string_view cell(at, static_cast<std::size_t>((comma == nullptr ? end : comma) - at));
      at = comma == nullptr ? end + 1 : comma + 1;
      good = i < columns_.size() && read_cell(i, cell, step, time_ns, samples);
    }
    if (!good || i != columns_.size()) {
      ++damaged_;
      return true;
    }
    if (!filler_.add_row(step, time_ns, samples)) return false;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      if (cells_[c]) filler_.set(series_[c], *cells_[c]);
    }
    return true;
  }

  bool read_cell(std::size_t i, std::string_view cell, std::uint64_t& step, std::int64_t& time_ns,
                 std::uint64_t& samples) {
    cells_[i].reset();
    switch (columns_[i]) {
      case Column::kStep:
        return parse(cell, step);
      case Column::kTime:
        return cell.empty() || parse_time(cell, time_ns);
      case Column::kSamples:
        return cell.empty() || parse(cell, samples);
      case Column::kSeries:
        break;
    }
    if (cell.empty()) return true;
    double value = 0;
    if (!parse(cell, value)) return false;
    cells_[i] = value;
    return true;
  }

  FollowedFile file_;
  MetricsLimits limits_;
  TableFiller filler_;
  std::string header_;
  std::vector<Column> columns_;
  std::vector<std::size_t> series_;           ///< The index of the series of each column.
  std::vector<std::optional<double>> cells_;  ///< The row that is being read.
  std::uint64_t damaged_ = 0;
};

}  // namespace

std::unique_ptr<MetricsSource> make_csv_source(const std::string& path, const MetricsLimits& limits) {
  return std::make_unique<CsvSource>(path, limits);
}

}  // namespace trainyard::archive
