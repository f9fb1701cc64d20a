// SPDX-License-Identifier: Apache-2.0
#include "datasets/csv/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "datasets/mapped_file.h"
#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {
namespace {

/// The largest number of classes. A model has an output for each class number, so a larger number is most likely a
/// mistake in the file.
constexpr std::int64_t kMostClasses = 1 << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

[[noreturn]] void refuse(const csv::Reader& row, const csv::Cell& cell, const std::string& column,
                         const char* allowed) {
  throw Error(Code::kCorrupt, "{}: '{}' in the column '{}'; allowed: {}", row.place(cell.offset),
              cell.text.substr(0, 60), column, allowed);
}

/// Converts the text of a cell, without blanks around it, to a T. Returns false if the text is not a valid T.
template <class T>
bool parse(std::string_view text, T& value) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() && !text.empty();
}

float number_of(const csv::Reader& row, const csv::Cell& cell, const std::string& column) {
  float value = 0;
  if (!parse(cell.text, value) || !std::isfinite(value)) refuse(row, cell, column, "a finite number of 32 bits");
  return value;
}

}  // namespace

char Csv::separator() const {
  const bool one_byte = separator_->size() == 1 && std::string_view("\"\r\n").find(*separator_) == std::string::npos;
  if (one_byte) return separator_->front();
  throw Error(Code::kInvalidArgument, "{}: separator = \"{}\"; allowed: one byte, and no quote or line end", where(),
              *separator_);
}

void Csv::open() {
  const MappedFile file(*path_);
  const auto* text = reinterpret_cast<const char*>(file.bytes().data());
  csv::Reader reader({text, file.size()}, *path_, separator());
  if (!reader.next()) throw Error(Code::kCorrupt, "{} at offset 0: there is no row", *path_);
  name_columns(reader);
  choose_columns();
  bool more = *header_ ? reader.next() : true;
  for (; more; more = reader.next()) add_row(reader);
  if (labels_are_names() && classifies()) number_names();
  divide();
}

void Csv::name_columns(const csv::Reader& first_row) {
  for (const csv::Cell& cell : first_row.cells()) {
    const std::string name = *header_ ? std::string(trimmed(cell.text)) : fmt::to_string(names_.size());
    if (std::ranges::find(names_, name) != names_.end()) {
      throw Error(Code::kCorrupt, "{}: a second column is called '{}'", first_row.place(cell.offset), name);
    }
    names_.push_back(name);
  }
}

std::size_t Csv::column_named(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  throw Error(Code::kInvalidArgument, "{}: {} has no column '{}'{}", where(), *path_, name, suggestion(name, names_));
}

void Csv::choose_columns() {
  for (const std::string& name : *target_) targets_.push_back(column_named(name));
  if (targets_.empty()) targets_.push_back(names_.size() - 1);
  for (const std::string& name : *chosen_) columns_.push_back(column_named(name));
  for (std::size_t column = 0; chosen_->empty() && column < names_.size(); ++column) {
    if (std::ranges::find(targets_, column) == targets_.end()) columns_.push_back(column);
  }
  if (classifies() && targets_.size() != 1) {
    throw Error(Code::kInvalidArgument, "{}: {} target columns; allowed: one, or task = \"regression\"", where(),
                targets_.size());
  }
  if (columns_.empty()) {
    throw Error(Code::kInvalidArgument, "{}: {} has {} columns, of which none is left to learn from", where(), *path_,
                names_.size());
  }
}

void Csv::check_width(const csv::Reader& row) const {
  if (row.cells().size() == names_.size()) return;
  throw Error(Code::kCorrupt, "{}: {} cells; allowed: {}, as the first line has", row.place(), row.cells().size(),
              names_.size());
}

void Csv::add_row(const csv::Reader& row) {
  check_width(row);
  for (const std::size_t column : columns_) {
    values_.push_back(number_of(row, row.cells()[column], names_[column]));
  }
  if (classifies()) return add_label(row, row.cells()[targets_.front()]);
  for (const std::size_t column : targets_) {
    target_values_.push_back(number_of(row, row.cells()[column], names_[column]));
  }
}

void Csv::add_label(const csv::Reader& row, const csv::Cell& cell) {
  const std::string& column = names_[targets_.front()];
  if (labels_are_names()) {
    const std::string_view name = trimmed(cell.text);
    if (name.empty()) refuse(row, cell, column, "the name of a class");
    row_names_.emplace_back(name);
    return;
  }
  std::int64_t label = 0;
  if (!parse(cell.text, label) || label < 0 || label >= kMostClasses) {
    refuse(row, cell, column, "a class 0, 1, ... below 1048576; labels = \"names\" takes any text");
  }
  classes_.push_back(label);
}

void Csv::number_names() {
  const std::set<std::string> distinct(row_names_.begin(), row_names_.end());
  vocabulary_.assign(distinct.begin(), distinct.end());
  for (const std::string& name : row_names_) {
    classes_.push_back(std::distance(distinct.begin(), distinct.find(name)));
  }
  row_names_ = {};
}

void Csv::divide() {
  const auto seed = static_cast<std::uint64_t>(*split_seed_);
  rows_ = partition_of(rows(), *split_, *validate_fraction_, seed);
  if (!rows_.train.empty()) return;
  throw Error(Code::kInvalidArgument, "{}: of the {} rows of {} none is left to train on (validate_fraction = {})",
              where(), rows(), *path_, *validate_fraction_);
}

DatasetInfo Csv::info() const {
  DatasetInfo info;
  info.dataset = "csv";
  info.splits = {{"train", rows_.train.size()}};
  if (!rows_.validate.empty()) info.splits.push_back({"validate", rows_.validate.size()});
  const auto floats = static_cast<std::uint8_t>(DType::kFloat32);
  info.fields = {{"input", floats, {static_cast<std::int64_t>(columns_.size())}},
                 {"target", static_cast<std::uint8_t>(DType::kInt64), {}}};
  if (classifies()) {
    info.classes = static_cast<std::uint64_t>(*std::ranges::max_element(classes_)) + 1;
    info.vocabulary = vocabulary_;
  } else {
    info.fields[1] = {"target", floats, {static_cast<std::int64_t>(targets_.size())}};
  }
  info.attributes = {{"path", *path_}};
  return info;
}

void Csv::read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const {
  const bool known = split == "train" || split == "validate";
  const std::vector<std::uint64_t>& rows = split == "train" ? rows_.train : rows_.validate;
  check_sample(split, index, known ? rows.size() : 0);
  const std::uint64_t row = rows[index];
  std::memcpy(fields[0].data(), values_.data() + row * columns_.size(), fields[0].size());
  if (classifies()) {
    std::memcpy(fields[1].data(), &classes_[row], fields[1].size());
  } else {
    std::memcpy(fields[1].data(), target_values_.data() + row * targets_.size(), fields[1].size());
  }
}

}  // namespace trainyard

TRAINYARD_DATASET(trainyard::Csv, "csv", "Rows of numbers from a CSV file, with a class or numbers to learn.")
