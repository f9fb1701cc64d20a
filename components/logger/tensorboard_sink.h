// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "components/logger/append_file.h"
#include "components/logger/sink.h"
#include "components/logger/validation_tables.h"

namespace trainyard {

/// Writes an event file for TensorBoard, with metrics as curves, predictions as texts, and histograms, confusion
/// matrices, samples and hyper-parameters. The tags are names such as "train/loss", "validate/loss", "predict/sample",
/// "gradients/hidden.weight" and "confusion/validate". Every run writes a separate file,
/// `events.out.tfevents.<seconds>.<host>.<pid>`; TensorBoard merges the files of a directory by step.
class TensorboardSink final : public Sink {
 public:
  /// Creates a new file in `directory`, even for a resumed run, and writes `hyperparameters` into it, unless there are
  /// none. Throws kIo if this fails.
  explicit TensorboardSink(const std::string& directory,
                           const std::map<std::string, nlohmann::json>& hyperparameters = {});

  using Sink::on;
  void on(const Metrics& metrics) override;
  void on(const Prediction& prediction) override;
  void on(const Histograms& message) override;
  void on(const Confusion& confusion) override;
  void on(const SampleResults& results) override;
  void flush() override { file_.flush(); }

  const std::string& path() const { return file_.path(); }

 private:
  void add(const std::string& event);
  void add_table(std::int64_t time_ns, std::uint64_t step, const std::string& tag, const std::string& table);

  AppendFile file_;
  ConfusionSum confusion_;
};

}  // namespace trainyard
