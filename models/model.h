#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/collective.h"
#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "messages/dataset_info.h"
#include "messages/prediction.h"
#include "messages/reduction.h"
#include "models/stage.h"
#include "tensors/named_tensor.h"

namespace trainyard {

using ModelContext = PluginContext;

/// One number about a batch, as a 0-dimensional tensor so that nothing waits for the device to tell it.
struct NamedMetric {
  std::string name;
  at::Tensor value;  ///< Over the batch; the mean, unless `reduction` says otherwise.
  // How the values of several batches, and of several ranks, become one; means are weighted by samples.
  Reduction reduction = Reduction::kMean;
};

/// What a step is given: the tensors of a batch, in the order of DatasetInfo::fields, on the model's device.
struct ModelBatch {
  std::string split;
  std::vector<at::Tensor> tensors;
};

/// Layers and a loss. Knows nothing of optimizers, devices, ranks or checkpoints.
///
/// Life: constructed (parameters only), `build` (layers exist, initialised from the seeded default generator, on the
/// CPU), then the accelerator host moves every parameter into the arena by `set_data` and gives it its gradient there.
/// From then on a model changes its parameters through nobody but the optimizer.
class Model : public Configurable {
 public:
  static constexpr const char* kKind = "model";
  using Context = ModelContext;

  explicit Model(ModelContext& context) : Configurable(context.where, context.parameters), context_(context) {}

  /// Makes the layers for this data. Throws kShapeMismatch with what the model needs and what the dataset has.
  virtual void build(const DatasetInfo& data) = 0;

  /// Trainable tensors, in the order in which forward uses them: leaves that require a gradient.
  virtual std::vector<NamedTensor> parameters() = 0;

  /// Tensors that belong into a checkpoint but are not trained: running means and the like.
  virtual std::vector<NamedTensor> buffers() { return {}; }

  /// Switches dropout, batch norm and the like between training and evaluation.
  virtual void set_training(bool training) = 0;

  /// Forward and loss of one micro-batch: a 0-dimensional tensor, the mean over the samples.
  virtual at::Tensor training_step(const ModelBatch& batch) = 0;

  /// Metrics of one batch, without gradients; the first one is "loss". The same names for every batch.
  virtual std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) = 0;

  /// Predictions for a batch; or, if `batch` has no tensors, something generated from nothing. Throws kUnsupported
  /// where a model cannot.
  virtual Prediction predict(const ModelBatch& batch);

  // A model that can be taken apart says so here. Then for every batch
  //   training_step(batch) = loss(stages.back().forward(... stages.front().forward(stage_input(batch))), batch).

  /// The parts, in the order of forward, which is that of their parameters; together they use all of them. Empty: the
  /// model is one piece. To be asked for after `build`.
  virtual std::vector<Stage> stages() { return {}; }

  /// What the first stage is given.
  virtual at::Tensor stage_input(const ModelBatch& batch) { return batch.tensors.at(0); }

  /// Of what the last stage gives: a 0-dimensional tensor, the mean over the samples. Throws kUnsupported for a model
  /// of one piece, as does `metrics`.
  virtual at::Tensor loss(const at::Tensor& output, const ModelBatch& batch);

  /// What evaluation_step says, of what the last stage gives.
  virtual std::vector<NamedMetric> metrics(const at::Tensor& output, const ModelBatch& batch);

  /// Makes the group of all ranks when it is first wanted; called by the accelerator host in a run of several.
  using MakeWorld = std::function<std::unique_ptr<Collective>()>;
  void join(MakeWorld make_world) { make_world_ = std::move(make_world); }

 protected:
  const ModelContext& context() const { return context_; }

  // What all ranks' models do together in the middle of a step. Every rank calls the same in the same order, so not
  // under a condition that may differ, such as the size of a batch, and not where ranks compute different parts
  // (pipeline). The results take no part in backward. Alone, a rank gets what it gave.

  /// The reduction of what all ranks have, of the same shape and type everywhere.
  at::Tensor sync_tensor(const at::Tensor& tensor, ReduceOp op = ReduceOp::kMean);
  /// What all ranks have, stacked: (ranks, ...).
  at::Tensor all_gather(const at::Tensor& tensor);
  /// What rank `root` has.
  at::Tensor broadcast(const at::Tensor& tensor, std::uint32_t root = 0);

 private:
  Collective* world();

  ModelContext context_;
  MakeWorld make_world_;
  std::unique_ptr<Collective> world_;
};

}  // namespace trainyard

/// Registers a model; the last line of its .cpp, inside no namespace.
#define TRAINYARD_MODEL(Class, name, description) \
  TRAINYARD_PLUGIN("model", ::trainyard::Model, ::trainyard::ModelContext, Class, name, "1", description)
