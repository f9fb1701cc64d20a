// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "components/logger/append_file.h"
#include "components/logger/sink.h"

namespace trainyard {

/// Writes histograms, confusion matrices and samples with predictions to a separate file, one JSON object per line.
/// They are not in metrics.jsonl, because their lines are long. The file is created when there is something to write.
///
/// Each line has the fields `kind` ("histograms", "confusion" or "samples"), `time` in seconds since 1970, and
/// `message`, which is the message in its JSON form (messages/json.h).
class InsightsSink final : public Sink {
 public:
  explicit InsightsSink(std::string path) : path_(std::move(path)) {}

  using Sink::on;
  void on(const Histograms& message) override;
  void on(const Confusion& message) override;
  void on(const SampleResults& message) override;
  void flush() override;

 private:
  void line(std::string_view kind, std::int64_t time_ns, std::string_view message);

  std::string path_;
  std::optional<AppendFile> file_;
};

}  // namespace trainyard
