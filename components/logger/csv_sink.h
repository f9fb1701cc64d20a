// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "components/logger/csv_file.h"
#include "components/logger/sink.h"

namespace trainyard {

/// Writes metrics as CSV files, one for each stage such as training or validation: `metrics_train.csv`,
/// `metrics_validate.csv`, ... The columns are `step`, `epoch`, `time` (in seconds since 1970), `samples`, and one for
/// each metric. If the run also counts another unit, a column named after it, such as `tokens`, contains the count.
/// Numbers are written exactly; values that are not finite are written as "nan", "inf" or "-inf".
class CsvSink final : public Sink {
 public:
  /// Writes files into `directory`. Each file is created when the first metrics of its stage arrive.
  explicit CsvSink(std::string directory) : directory_(std::move(directory)) {}

  using Sink::on;
  void on(const Metrics& metrics) override;
  void flush() override;

 private:
  CsvFile& table_of(const std::string& stage);

  std::string directory_;
  std::map<std::string, std::unique_ptr<CsvFile>> tables_;  ///< Indexed by file name.
  /// Indexed by stage. Stages with the same file name share a table.
  std::map<std::string, CsvFile*> by_stage_;
  std::string scratch_;
};

/// Returns `text`, such as "rank0/optimizer", in a form that can be part of a file name: every character except
/// letters, digits, '-' and '_' is replaced by '_'. Returns "unnamed" if `text` is empty.
std::string file_name_part(std::string text);

}  // namespace trainyard
