// SPDX-License-Identifier: Apache-2.0
// A model for tests with one linear layer. Parameters determine how long its steps take, and when its loss is not a
// number.

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>

#include <chrono>
#include <limits>
#include <thread>

#include "models/classification.h"
#include "models/initialise.h"
#include "models/model.h"

namespace trainyard {
namespace {

class Moody final : public Model {
 public:
  explicit Moody(ModelContext& context) : Model(context) {}

  void build(const DatasetInfo& data) override {
    const ClassificationSizes sizes = classification_sizes(data, where());
    weight_ = uniform_parameter({sizes.classes, sizes.input_elements()}, sizes.input_elements());
  }

  std::vector<NamedTensor> parameters() override { return {{"weight", weight_}}; }
  void set_training(bool) override {}

  at::Tensor training_step(const ModelBatch& batch) override {
    // The sleep imitates a long computation.
    const bool slow = *slow_rank_ < 0 || *slow_rank_ == static_cast<std::int64_t>(context().rank);
    if (slow) std::this_thread::sleep_for(std::chrono::duration<double>(*step_s_));
    const at::Tensor loss = classification_loss(logits(batch), batch.tensors[1]);
    const bool is_bad = ++steps_ == *nan_at_ && static_cast<std::int64_t>(context().rank) == *nan_rank_;
    return is_bad ? loss * std::numeric_limits<double>::quiet_NaN() : loss;
  }

  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override {
    return classification_metrics(logits(batch), batch.tensors[1]);
  }

 private:
  at::Tensor logits(const ModelBatch& batch) const {
    return at::linear(float_input(batch.tensors[0]).flatten(1), weight_);
  }

  Parameter<double> step_s_{*this, "step_s", 0, "how long a training step takes", at_least(0) | in_unit("s")};
  Parameter<std::int64_t> slow_rank_{*this, "slow_rank", -1, "the rank whose steps take so long; -1 = all"};
  Parameter<std::int64_t> nan_at_{*this, "nan_at", 0, "the micro-batch whose loss is not a number; 0 = none"};
  Parameter<std::int64_t> nan_rank_{*this, "nan_rank", 0, "the rank that has such a loss"};

  at::Tensor weight_;
  std::int64_t steps_ = 0;
};

}  // namespace
}  // namespace trainyard

TRAINYARD_MODEL(trainyard::Moody, "moody", "A model whose steps are slow or fail when a test wants it.")
