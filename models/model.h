// SPDX-License-Identifier: Apache-2.0
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
#include "core/state/state.h"
#include "core/traits/sample_traits.h"
#include "messages/dataset_info.h"
#include "messages/prediction.h"
#include "messages/reduction.h"
#include "models/stage.h"
#include "tensors/named_tensor.h"

namespace trainyard {

using ModelContext = PluginContext;

/// One number about a batch. Its value is a 0-dimensional tensor, so that it can be passed on without waiting for the
/// device.
struct NamedMetric {
  std::string name;
  at::Tensor value;  ///< The value for the batch: the mean over its samples, unless `reduction` says otherwise.
  /// How the values of several batches and ranks become one value. Means are weighted by the number of samples.
  Reduction reduction = Reduction::kMean;
};

/// The input of a model for one micro-batch: its tensors, in the order of DatasetInfo::fields, on the model's device.
struct ModelBatch {
  std::string split;
  std::vector<at::Tensor> tensors;
};

/// The layers and the loss. A model does not depend on optimizers, devices, ranks or checkpoints.
///
/// A model is constructed with the parameters of the launch file. `build` makes its layers on the CPU and draws their
/// first values from the default generator, which has been seeded. The accelerator host then copies every parameter
/// into the arena by `set_data` and assigns it a gradient there. From then on only the optimizer changes the
/// parameters.
class Model : public Configurable, public Stateful {
 public:
  static constexpr const char* kKind = "model";
  using Context = ModelContext;

  explicit Model(ModelContext& context) : Configurable(context.where, context.parameters), context_(context) {}

  /// Returns what this model can learn from. It may depend on the parameters.
  virtual ModelTraits traits() const { return {}; }
  core::PluginTraits declared_traits() const final;

  /// Makes the layers for this data. Throws kShapeMismatch, saying what the model needs and what the dataset has.
  virtual void build(const DatasetInfo& data) = 0;

  /// Returns the trainable tensors, in the order in which the forward pass uses them. They are leaves that require a
  /// gradient.
  virtual std::vector<NamedTensor> parameters() = 0;

  /// Returns the tensors that belong in a checkpoint but are not trained, such as running means.
  virtual std::vector<NamedTensor> buffers() { return {}; }

  /// Switches dropout, batch norm and the like between training and evaluation.
  virtual void set_training(bool training) = 0;

  /// Computes the loss of one micro-batch: a 0-dimensional tensor, the mean over the samples.
  virtual at::Tensor training_step(const ModelBatch& batch) = 0;

  /// Computes the metrics of one batch. Called with gradients switched off. The first metric is "loss", and the names
  /// are the same for every batch.
  virtual std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) = 0;

  /// Returns a prediction for every sample of a batch. If `batch` has no tensors, the model generates output without an
  /// input. Throws kUnsupported if the model does not support this.
  virtual Prediction predict(const ModelBatch& batch);

  /// Saves what the model keeps from step to step besides parameters and buffers, and takes it back; see Stateful. By
  /// default there is nothing.
  void save_state(StateWriter& /*into*/) const override {}
  void restore_state(const StateReader& /*from*/) override {}

  // A model that can be divided into stages overrides the following functions. For every batch
  //   training_step(batch) = loss(stages.back().forward(... stages.front().forward(stage_input(batch))), batch).

  /// Returns the stages of the model, in the order of the forward pass and of their parameters. Together they use all
  /// parameters. A model without stages returns an empty list. Called after `build`.
  virtual std::vector<Stage> stages() { return {}; }

  /// Returns the input of the first stage for a batch.
  virtual at::Tensor stage_input(const ModelBatch& batch) { return batch.tensors.at(0); }

  /// Computes the loss from the output of the last stage: a 0-dimensional tensor, the mean over the samples. In a model
  /// without stages this and `metrics` throw kUnsupported.
  virtual at::Tensor loss(const at::Tensor& output, const ModelBatch& batch);

  /// Computes the metrics of evaluation_step from the output of the last stage.
  virtual std::vector<NamedMetric> metrics(const at::Tensor& output, const ModelBatch& batch);

  /// A function that makes the group of all ranks. In a run of several ranks, the accelerator host passes one to
  /// join(), and it is called when the group is first needed.
  using MakeWorld = std::function<std::unique_ptr<Collective>()>;
  void join(MakeWorld make_world) { make_world_ = std::move(make_world); }

 protected:
  const ModelContext& context() const { return context_; }

  // With the following functions, the models of all ranks can communicate in the middle of a step. Every rank must make
  // the same calls in the same order. They must therefore not depend on a condition that may differ between ranks, such
  // as the size of a batch, and cannot be used where ranks compute different parts of the model (pipeline). No gradient
  // flows through the results. A single rank gets its own tensor back (stacked, in the case of all_gather).

  /// Returns the reduction over all ranks of a tensor that has the same shape and type on every rank.
  at::Tensor sync_tensor(const at::Tensor& tensor, ReduceOp op = ReduceOp::kMean);
  /// Returns the tensors of all ranks, stacked: (ranks, ...).
  at::Tensor all_gather(const at::Tensor& tensor);
  /// Returns the tensor of rank `root`.
  at::Tensor broadcast(const at::Tensor& tensor, std::uint32_t root = 0);

 private:
  Collective* world();

  ModelContext context_;
  MakeWorld make_world_;
  std::unique_ptr<Collective> world_;
};

}  // namespace trainyard

/// Registers a model. It is the last line of the model's .cpp, outside of any namespace.
#define TRAINYARD_MODEL(Class, name, description) \
  TRAINYARD_PLUGIN("model", ::trainyard::Model, ::trainyard::ModelContext, Class, name, "1", description)
