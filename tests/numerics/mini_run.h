// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core/testing/rig.h"
#include "messages/arena.h"
#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/metrics.h"
#include "messages/prediction.h"

namespace trainyard::testing {

/// A small run that consists of an accelerator host and an optimizer on one event loop. The test itself sends the
/// messages of the data loader and of the strategy manager.
class MiniRun {
 public:
  /// `host` contains the parameters of the accelerator host as JSON without braces; log_every_steps is always 1.
  /// `optimizer` is a JSON object with the parameters of the optimizer.
  MiniRun(const std::string& host, const std::string& optimizer, const DatasetInfo& data, std::uint64_t seed = 1);

  /// Makes one of several ranks, each of which runs on a separate thread; see many_ranks.h.
  MiniRun(const std::string& host, const std::string& optimizer, const DatasetInfo& data, const Rig::World& world);

  /// Trains on these batches with a single order, with a step after every `micro_batches` batches. Returns the mean
  /// loss of this rank's samples in every step, or NaN for a step in which the rank had no samples.
  std::vector<double> train(std::vector<Batch> batches, std::uint64_t micro_batches = 1);

  /// Evaluates the split "validate" on these batches. Returns the metrics of the answer.
  std::vector<Scalar> evaluate(std::vector<Batch> batches);

  /// Returns the model's prediction for one batch.
  Prediction predict(Batch batch);

  /// Returns a flat view of this rank's part of the parameters.
  at::Tensor parameters() const;

  /// Returns the accelerator host's message about the memory of the parameters and gradients (the arena).
  const ArenaInfo& arena() const { return arena_; }

  /// Returns the test rig, which runs the components and records the messages that they send.
  Rig& rig() { return rig_; }

  /// Returns a copy of one parameter.
  at::Tensor parameter(const std::string& name) const;

  /// Returns all metrics that the accelerator host has sent. With several ranks, messages RankMetrics are converted to
  /// Metrics.
  std::vector<Metrics> metrics() const;

  /// Returns the names of all parameters, in the order of the model.
  std::vector<std::string> parameter_names() const;

  /// Returns a flat view of a block of the optimizer's state, such as "exp_avg".
  at::Tensor state(const std::string& block) const;

  /// Returns the newest training metric of this name.
  double metric(const std::string& name) const;

 private:
  void send(std::vector<Batch> batches, const std::string& split);

  Rig rig_;
  ArenaInfo arena_;
  std::uint64_t order_ = 0;
};

/// Returns a batch of `samples` generated inputs and classes. The same `index` always yields the same batch.
Batch made_up_batch(std::uint64_t index, std::int64_t samples, std::int64_t features, std::int64_t classes);

/// Returns the rows from `begin` up to `end` of a batch.
Batch rows(const Batch& batch, std::int64_t begin, std::int64_t end);

/// Returns the description of the data that made_up_batch() makes.
DatasetInfo made_up_data(std::int64_t features, std::int64_t classes);

}  // namespace trainyard::testing
