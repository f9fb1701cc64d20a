// SPDX-License-Identifier: Apache-2.0
#include "components/logger/csv_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "messages/error.h"

namespace trainyard {

// New columns are added only on the right, so the existing rows stay valid.

namespace {

/// Returns the header with its line end. Quoted names may contain line ends, too.
std::string read_header(std::istream& file) {
  std::string header, line;
  while (std::getline(file, line)) {
    header += line + '\n';
    // If the number of quotes so far is odd, the line end is inside a name.
    if (std::count(header.begin(), header.end(), '"') % 2 == 0) break;
  }
  return header;
}

/// Returns the header line.
std::string join(const std::vector<std::string>& columns) {
  std::string line;
  for (const std::string& column : columns) line += (line.empty() ? "" : ",") + csv_quoted(column);
  return line + "\r\n";
}

}  // namespace

std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

// Inside quotes, commas and line ends are text, and two quotes stand for one.
std::vector<std::string> csv_first_record(std::string_view text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"')
        fields.back() += text[++i];
      else
        quoted = !quoted;
    } else if (!quoted && c == ',') {
      fields.emplace_back();
    } else if (!quoted && (c == '\r' || c == '\n')) {
      break;
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// The columns of an existing file keep their order, even if this run sets its values in another order.
CsvFile::CsvFile(std::string path) : path_(std::move(path)) {
  drop_torn_line(path_);
  std::ifstream existing(path_, std::ios::binary);
  const std::string header = read_header(existing);
  if (!header.empty()) columns_ = csv_first_record(header);
  columns_in_file_ = columns_.size();
  cells_.resize(columns_.size());
  file_.emplace(path_);
}

std::size_t CsvFile::index_of(std::string_view column) {
  // Rows usually set their cells in the same order, so a search is rarely needed.
  if (next_column_ < columns_.size() && columns_[next_column_] == column) return next_column_++;
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  const auto index = static_cast<std::size_t>(found - columns_.begin());
  if (found == columns_.end()) {
    columns_.emplace_back(column);
    cells_.emplace_back();
  }
  next_column_ = index + 1;
  return index;
}

void CsvFile::set(std::string_view column, std::string_view text) {
  std::string& cell = cells_[index_of(column)];
  if (cell.empty()) cell = text;
}

void CsvFile::end_row() {
  // The header is written when the row is complete, so that a row with several new columns rewrites the file only once.
  if (columns_in_file_ != columns_.size()) write_header_or_widen();
  std::string& out = file_->buffer();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (i > 0) out += ',';
    out += cells_[i];
    cells_[i].clear();
  }
  out += "\r\n";
  next_column_ = 0;
}

void CsvFile::write_header_or_widen() {
  // The buffered rows still have the old columns.
  file_->flush();
  std::ifstream old(path_, std::ios::binary);
  const bool fresh = read_header(old).empty();
  if (fresh) {
    file_->buffer() += join(columns_);
  } else {
    const std::string temporary = path_ + ".tmp";
    std::ofstream wide(temporary, std::ios::binary | std::ios::trunc);
    const std::string padding(columns_.size() - columns_in_file_, ',');
    wide << join(columns_);
    for (std::string line; std::getline(old, line);) {
      if (line.ends_with('\r')) line.pop_back();
      // Cells below the header are numbers without line ends, so each line is a row.
      wide << line << padding << "\r\n";
    }
    wide.close();
    // The new file replaces the old one only when it is complete.
    if (!wide || std::rename(temporary.c_str(), path_.c_str()) != 0) {
      throw Error(Code::kIo, "cannot add columns to {} through {}: {}", path_, temporary, std::strerror(errno));
    }
    file_.emplace(path_);
  }
  columns_in_file_ = columns_.size();
}

void CsvFile::flush() { file_->flush(); }

}  // namespace trainyard
