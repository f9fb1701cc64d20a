// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "components/accelerator_host/run_position.h"
#include "components/accelerator_host/runner.h"
#include "core/component/output.h"
#include "core/config/parameter.h"
#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/order.h"
#include "messages/prediction.h"
#include "messages/validation_results.h"

namespace trainyard::host {

/// Sends the results of a validation besides its metrics: which classes the model confuses, some samples with their
/// predictions, and texts that the model generates. Nothing is sent for an evaluation of the training data.
///
/// The metrics of a batch do not contain predictions, so a batch whose predictions are needed is computed twice. Every
/// rank predicts the same number of batches, because all ranks may have to take part in each prediction. So every rank
/// must call the functions of this class, although only rank 0 sends samples and texts.
class ValidationReport {
 public:
  struct Outputs {
    Output<Confusion>& confusion;
    Output<SampleResults>& samples;
    Output<Prediction>& texts;
  };
  /// Parameters of the accelerator host: `samples` is `samples_per_validation`, and `confusion` is `confusion_matrix`.
  struct Settings {
    const Parameter<std::int64_t>& samples;
    const Parameter<bool>& confusion;
  };
  ValidationReport(Runner& runner, const RunPosition& position, Outputs outputs, const ComponentContext& context,
                   Settings settings);

  /// Records the description of the dataset. Call this function before the first validation. Throws kInvalidArgument if
  /// the parameters ask for a report that this dataset does not allow, because it has no classes, too many classes, or
  /// no text.
  void describe(const DatasetInfo& data);

  /// Begins a report. Called when the evaluation `order` begins.
  void begin(const Order& order);
  /// Called for every batch of the evaluation. Predicts the samples of the batch if their predictions are needed.
  void see(const Batch& batch);
  /// Sends the report. Called before the evaluation ends.
  void finish();

 private:
  bool wants_samples() const;
  void take(const Batch& batch, const Prediction& prediction);
  SampleResult result_of(const Batch& batch, std::int64_t row, std::int64_t right, std::int64_t predicted,
                         double probability) const;
  void generate();

  Runner& runner_;
  const RunPosition& position_;
  Outputs outputs_;
  const ComponentContext& context_;
  Settings settings_;
  bool text_ = false;                 ///< True if the model generates text.
  std::vector<std::string> classes_;  ///< The names of the classes; empty if the dataset has no classes.
  std::uint64_t batch_size_ = 1;

  // These members describe the evaluation in progress.
  bool active_ = false;
  std::uint64_t order_ = 0;
  std::uint64_t batches_ = 0;  ///< The number of batches seen.
  Confusion confusion_;
  SampleResults samples_;
};

}  // namespace trainyard::host
