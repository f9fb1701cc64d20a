// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "components/logger/append_file.h"
#include "components/logger/sink.h"

namespace trainyard {

/// Writes metrics as TensorBoard curves and predictions as TensorBoard texts, with tags such as "train/loss",
/// "validate/loss" and "predict/sample". Every run writes a separate file,
/// `events.out.tfevents.<seconds>.<host>.<pid>`; TensorBoard joins the files of a directory by step.
class TensorboardSink final : public Sink {
 public:
  /// Creates a new file, even for a resumed run. Throws kIo.
  explicit TensorboardSink(const std::string& directory);

  using Sink::on;
  void on(const Metrics& metrics) override;
  void on(const Prediction& prediction) override;
  void flush() override { file_.flush(); }

  const std::string& path() const { return file_.path(); }

 private:
  AppendFile file_;
};

}  // namespace trainyard
