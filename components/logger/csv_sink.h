// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "components/logger/csv_file.h"
#include "components/logger/sink.h"

namespace trainyard {

/// Writes metrics as one table per stage: `metrics_train.csv`, `metrics_validate.csv`, ... The columns are step, epoch,
/// time (in seconds since 1970), samples, the unit that is counted ("tokens"), and one for every value. Numbers are
/// exact; numbers that are not finite are written as "nan", "inf" or "-inf".
class CsvSink final : public Sink {
 public:
  /// Writes into `directory`. A file is created when its stage first appears.
  explicit CsvSink(std::string directory) : directory_(std::move(directory)) {}

  using Sink::on;
  void on(const Metrics& metrics) override;
  void flush() override;

 private:
  CsvFile& table_of(const std::string& stage);

  std::string directory_;
  std::map<std::string, std::unique_ptr<CsvFile>> tables_;  ///< The tables, indexed by file name.
  std::map<std::string, CsvFile*> by_stage_;                ///< Two stages whose file names are equal share a table.
  std::string scratch_;
};

/// Turns text such as "rank0/optimizer" into part of a file name: every character except letters, digits, '-' and '_'
/// becomes '_', and an empty text becomes "unnamed".
std::string file_name_part(std::string text);

}  // namespace trainyard
