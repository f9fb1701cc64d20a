// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "components/logger/append_file.h"
#include "components/logger/sink.h"

namespace trainyard {

/// Writes metrics and other messages to one file, one JSON object per line. The field `kind` is metrics, model,
/// dataset, prediction, checkpoint or log. `time` is in seconds since 1970. Numbers are written exactly. NaN and
/// infinities, which JSON cannot represent, are written as null; the field `not_finite` then contains the value as a
/// text, as in {"loss":"NaN"}.
class JsonlSink final : public Sink {
 public:
  /// Opens or creates the file at `path`. Lines are appended to an existing file. Throws kIo if this fails.
  explicit JsonlSink(const std::string& path);

  void on(const Metrics& metrics) override;
  void on(const ModelInfo& model) override;
  void on(const DatasetInfo& dataset) override;
  void on(const Prediction& prediction) override;
  void on(const CheckpointDone& checkpoint) override;
  void on(const LogRecord& record) override;
  void flush() override { file_.flush(); }

 private:
  void begin(std::string_view kind, std::int64_t time_ns);
  void key(std::string_view name);
  void text(std::string_view name, std::string_view value);
  void count(std::string_view name, std::uint64_t value);
  void values(const std::vector<Scalar>& scalars);
  void end();

  AppendFile file_;
};

}  // namespace trainyard
