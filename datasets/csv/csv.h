// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/csv/csv_reader.h"
#include "datasets/dataset.h"
#include "datasets/partition.h"

namespace trainyard::csv {

/// What a model learns to predict from a row: a class, or numbers.
enum class Task : std::uint8_t { kClassification, kRegression };
constexpr auto words_of(Task) { return words("task", "classification", "regression"); }

/// The ways in which the class of a row can be written: as a number, or as any text.
enum class Labels : std::uint8_t { kNumbers, kNames };
constexpr auto words_of(Labels) { return words("way to write classes", "numbers", "names"); }

}  // namespace trainyard::csv

namespace trainyard {

/// A dataset of rows of numbers from a CSV file (RFC 4180). The rows are kept in memory as floats.
///
/// The first line of the file contains the names of the columns. With `header = false`, the columns are named by their
/// numbers, counted from 0. The rows of the split "validate" are drawn at random; with `split = "tail"` they are the
/// last rows of the file. The random choice depends on `split_seed` and not on the seed of the run, so a run with
/// another seed has the same splits.
///
/// Parameters  path               required: the CSV file
///             separator          ","; one byte, for example ";" or "\t"
///             header             true: the first line contains the names of the columns
///             target             the columns to predict; [] = the last column; several only for regression
///             columns            the columns to learn from; [] = all except the targets
///             task               classification | regression
///             labels             numbers (classes 0, 1, ...) | names (any text; numbered in bytewise order)
///             validate_fraction  0.1; 0 = no split "validate"
///             split              random | tail
///             split_seed         0
/// Fields      input              float32 [columns]
///             target             int64 [], or for regression float32 [targets]
/// Errors      kNotFound, kIo; kCorrupt (file, line and offset: too few or too many cells, a cell that is not a
///             number, a quote that is never closed); kInvalidArgument (unknown columns, nothing to train on)
class Csv final : public Dataset {
 public:
  explicit Csv(DatasetContext& context) : Dataset(context) {}

  DatasetTraits traits() const override { return {classifies() ? TargetKind::kClass : TargetKind::kNumbers}; }
  void open() override;
  DatasetInfo info() const override;
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  bool classifies() const { return *task_ == csv::Task::kClassification; }
  bool labels_are_names() const { return *labels_ == csv::Labels::kNames; }
  char separator() const;
  void name_columns(const csv::Reader& first_row);
  std::size_t column_named(const std::string& name) const;
  void choose_columns();
  void check_width(const csv::Reader& row) const;
  void add_row(const csv::Reader& row);
  void add_label(const csv::Reader& row, const csv::Cell& cell);
  void number_names();
  void divide();
  std::uint64_t rows() const { return values_.size() / columns_.size(); }

  Parameter<std::string> path_{*this, "path", kRequired, "CSV file"};
  Parameter<std::string> separator_{*this, "separator", ",", "the character that separates two cells"};
  Parameter<bool> header_{*this, "header", true, "whether the first line contains the names of the columns"};
  Parameter<std::vector<std::string>> target_{*this, "target", std::vector<std::string>{},
                                              "columns to predict; empty = the last"};
  Parameter<std::vector<std::string>> chosen_{*this, "columns", std::vector<std::string>{},
                                              "columns to learn from; empty = all others"};
  Parameter<csv::Task> task_{*this, "task", csv::Task::kClassification, "what the target is: a class, or numbers"};
  Parameter<csv::Labels> labels_{*this, "labels", csv::Labels::kNumbers,
                                 "how classes are written: 0, 1, ... or any text"};
  Parameter<double> validate_fraction_{*this, "validate_fraction", 0.1, "share of the rows for validation",
                                       between(0, 0.99)};
  Parameter<Division> split_{*this, "split", Division::kRandom, "rows for validation: random ones, or the last"};
  Parameter<std::int64_t> split_seed_{*this, "split_seed", 0,
                                      "seed of the random draw, independent of the seed of the run", at_least(0)};

  std::vector<std::string> names_;     ///< The names of all columns of the file.
  std::vector<std::size_t> columns_;   ///< The numbers of the columns to learn from.
  std::vector<std::size_t> targets_;   ///< The numbers of the columns to predict.
  std::vector<float> values_;          ///< The inputs of all rows, one row after another.
  std::vector<float> target_values_;   ///< For regression: the targets of all rows, one row after another.
  std::vector<std::int64_t> classes_;  ///< For classification: the class of every row.
  /// If labels are names: the class name of every row. Empty once the names have been numbered.
  std::vector<std::string> row_names_;
  std::vector<std::string> vocabulary_;  ///< The names of the classes.
  Partition rows_;
};

}  // namespace trainyard
