#pragma once

#include <string>

#include "components/logger/append_file.h"
#include "components/logger/sink.h"

namespace trainyard {

/// Numbers as TensorBoard curves and predictions as its texts: tags "train/loss", "validate/loss", "predict/sample".
/// Every run writes a file of its own, `events.out.tfevents.<seconds>.<host>.<pid>`; TensorBoard joins those of a
/// directory by step.
class TensorboardSink final : public Sink {
 public:
  /// Makes a new file, also when a run is resumed. Throws kIo.
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
