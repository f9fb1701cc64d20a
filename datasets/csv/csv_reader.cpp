// SPDX-License-Identifier: Apache-2.0
#include "datasets/csv/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "messages/error.h"

namespace trainyard::csv {

Reader::Reader(std::string_view text, std::string path, char separator)
    : text_(text), path_(std::move(path)), separator_(separator) {
  if (text_.starts_with("\xef\xbb\xbf")) position_ = 3;  // Spreadsheets write a byte order mark.
}

std::string Reader::place(std::uint64_t offset) const {
  return fmt::format("{} line {} at offset {}", path_, row_line_, offset);
}

bool Reader::end_row() {
  if (position_ == text_.size()) return true;
  const std::size_t length = text_.substr(position_).starts_with("\r\n") ? 2 : 1;
  if (length == 1 && text_[position_] != '\n') return false;
  position_ += length;
  ++line_;
  return true;
}

bool Reader::next() {
  cells_.clear();
  unquoted_.clear();
  while (position_ < text_.size() && end_row()) {
  }
  if (position_ == text_.size()) return false;
  row_line_ = line_;
  row_offset_ = position_;
  while (true) {
    const bool quoted = position_ < text_.size() && text_[position_] == '"';
    cells_.push_back(quoted ? quoted_cell() : plain_cell());
    if (end_row()) return true;
    ++position_;  // This skips the separator, because a cell ends only there or at the end of a row.
  }
}

Cell Reader::plain_cell() {
  const std::size_t start = position_;
  while (position_ < text_.size() && text_[position_] != separator_ && text_[position_] != '\n') ++position_;
  // The \r of a line end does not belong to a cell.
  if (position_ > start && position_ < text_.size() && text_[position_] == '\n' && text_[position_ - 1] == '\r') {
    --position_;
  }
  return {text_.substr(start, position_ - start), start};
}

Cell Reader::quoted_cell() {
  const std::size_t start = ++position_;
  bool doubled = false;
  while (true) {
    const std::size_t quote = text_.find('"', position_);
    if (quote == std::string_view::npos) {
      throw Error(Code::kCorrupt, "{}: the quote is never closed", place(start - 1));
    }
    line_ += static_cast<std::uint64_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(position_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
    position_ = quote + 1;
    if (position_ == text_.size() || text_[position_] != '"') break;
    ++position_;
    doubled = true;
  }
  const bool ended = position_ == text_.size() || text_[position_] == separator_ || text_[position_] == '\n' ||
                     text_.substr(position_).starts_with("\r\n");
  if (!ended) {
    throw Error(Code::kCorrupt, "{}: '{}' behind a closing quote; allowed: '{}' or the end of the line",
                place(position_), text_[position_], separator_);
  }
  const Cell cell{text_.substr(start, position_ - 1 - start), start};
  if (!doubled) return cell;
  std::string& text = unquoted_.emplace_back();
  for (std::size_t i = 0; i < cell.text.size(); ++i) {
    text += cell.text[i];
    if (cell.text[i] == '"') ++i;  // Quotes come in pairs here.
  }
  return {text, start};
}

}  // namespace trainyard::csv
