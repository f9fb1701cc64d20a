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

/// A composed run of accelerator host and optimizer, whose loader and manager the test is.
class MiniRun {
 public:
  /// `host`: parameters of the accelerator host, as JSON without braces; log_every_steps is 1. `optimizer`: a JSON
  /// object.
  MiniRun(const std::string& host, const std::string& optimizer, const DatasetInfo& data, std::uint64_t seed = 1);

  /// As one rank of several, each on a thread of its own; see many_ranks.h.
  MiniRun(const std::string& host, const std::string& optimizer, const DatasetInfo& data, const Rig::World& world);

  /// Trains on these batches in one order, a step every `micro_batches`; returns the loss of every step: of this rank's
  /// samples, not a number if it had none.
  std::vector<double> train(std::vector<Batch> batches, std::uint64_t micro_batches = 1);

  /// Evaluates "validate" on these batches; returns the means by name.
  std::vector<Scalar> evaluate(std::vector<Batch> batches);

  /// Returns what the model says of one batch.
  Prediction predict(Batch batch);

  /// Returns a flat view of the parameters that this rank has.
  at::Tensor parameters() const;

  /// Returns what the host has announced.
  const ArenaInfo& arena() const { return arena_; }

  /// Returns the components and what they have sent.
  Rig& rig() { return rig_; }

  /// Returns a copy of one parameter.
  at::Tensor parameter(const std::string& name) const;

  /// Returns what the host has said so far, whether it is one of several or not.
  std::vector<Metrics> metrics() const;

  /// Returns names of all parameters, in the order of the model.
  std::vector<std::string> parameter_names() const;

  /// Returns a flat view of a block of the optimizer's state: "exp_avg".
  at::Tensor state(const std::string& block) const;

  /// Returns the newest training metric of this name.
  double metric(const std::string& name) const;

 private:
  void send(std::vector<Batch> batches, const std::string& split);

  Rig rig_;
  ArenaInfo arena_;
  std::uint64_t order_ = 0;
};

/// `samples` rows of made-up inputs of this shape and classes; the same for the same index.
Batch made_up_batch(std::uint64_t index, std::int64_t samples, std::int64_t features, std::int64_t classes);

/// Rows `begin` to `end` of a batch.
Batch rows(const Batch& batch, std::int64_t begin, std::int64_t end);

DatasetInfo made_up_data(std::int64_t features, std::int64_t classes);

}  // namespace trainyard::testing
