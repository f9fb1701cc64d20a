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

/// A metric of one batch, with its name. The value is a 0-dimensional tensor, so that the model can return it without
/// waiting for the device to compute it.
struct NamedMetric {
  std::string name;
  /// The value for the batch. If `reduction` is kMean, this is the mean over the samples of the batch.
  at::Tensor value;
  /// How the values of several batches and ranks are combined into one value. With kMean, each value is weighted by the
  /// number of samples in its batch.
  Reduction reduction = Reduction::kMean;
};

/// One batch, or one micro-batch, as a model receives it.
struct ModelBatch {
  std::string split;  ///< The split that the samples belong to.
  /// One tensor for each field of the dataset, in the order of DatasetInfo::fields, on the model's device. The size of
  /// the first dimension is the number of samples. Empty only if the model must generate output without an input; see
  /// Model::predict().
  std::vector<at::Tensor> tensors;
};

/// The base class of all models. A model consists of its layers and its loss, and does not depend on optimizers,
/// devices, ranks or checkpoints.
///
/// A model is constructed with its settings from the launch file. `build` then makes the layers on the CPU. It draws
/// the initial values of their tensors from LibTorch's default generator, which has already been seeded. After that,
/// the accelerator host (the component that computes with the model) moves the trainable tensors and the buffers into a
/// few flat blocks of memory, the arena. For this, it replaces the memory of the tensors with `set_data` or an
/// equivalent, so the model must keep using the same tensor objects. Each trainable tensor also gets a gradient in the
/// arena. During training, only the optimizer and the strategy change the trainable tensors.
class Model : public Configurable, public Stateful {
 public:
  static constexpr const char* kKind = "model";
  using Context = ModelContext;

  explicit Model(ModelContext& context) : Configurable(context.where, context.parameters), context_(context) {}

  /// Returns the kinds of targets that the model can learn. The result can depend on the parameters from the launch
  /// file. When a run is planned, a dataset with another kind of target is refused. The default lists no kinds, so any
  /// dataset is accepted.
  virtual ModelTraits traits() const { return {}; }
  core::PluginTraits declared_traits() const final;

  /// Makes the layers for the dataset that `data` describes. Throws kShapeMismatch if the model cannot learn from it;
  /// the error states what the model needs and what the dataset has.
  virtual void build(const DatasetInfo& data) = 0;

  /// Returns the trainable tensors, in the order of the forward pass. They are leaves that require a gradient.
  virtual std::vector<NamedTensor> parameters() = 0;

  /// Returns the tensors that are saved in checkpoints but not trained, such as running means.
  virtual std::vector<NamedTensor> buffers() { return {}; }

  /// Switches dropout, batch norm and similar layers to training if `training` is true, otherwise to evaluation.
  virtual void set_training(bool training) = 0;

  /// Computes the loss of one micro-batch: a 0-dimensional tensor, the mean over the samples.
  virtual at::Tensor training_step(const ModelBatch& batch) = 0;

  /// Computes the metrics of one batch. The first metric must be "loss", and the names must be the same for every
  /// batch. Gradients are switched off during the call.
  virtual std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) = 0;

  /// Returns a prediction for every sample of a batch. If `batch` has no tensors, the model generates output without an
  /// input. Throws kUnsupported if the model does not support predictions or, for a batch without tensors, generation;
  /// the default implementation always throws.
  virtual Prediction predict(const ModelBatch& batch);

  /// Saves any state that the model keeps between steps, apart from parameters and buffers, for a checkpoint; see
  /// Stateful. The default saves nothing.
  void save_state(StateWriter& /*into*/) const override {}

  /// Restores what save_state() saved.
  void restore_state(const StateReader& /*from*/) override {}

  // A model that can be divided into stages overrides the following functions in such a way that for every batch
  //   training_step(batch) = loss(stages.back().forward(... stages.front().forward(stage_input(batch))), batch).

  /// Returns the stages of the model in the order of the forward pass, which is also the order of their tensors in
  /// parameters(). Every parameter is used by at least one stage. A model that cannot be divided returns an empty list.
  /// Called after `build`.
  virtual std::vector<Stage> stages() { return {}; }

  /// Returns the input of the first stage for a batch. The default returns the first tensor of the batch.
  virtual at::Tensor stage_input(const ModelBatch& batch) { return batch.tensors.at(0); }

  /// Computes the loss from the output of the last stage: a 0-dimensional tensor, the mean over the samples. The
  /// default implementation, for models without stages, throws kUnsupported.
  virtual at::Tensor loss(const at::Tensor& output, const ModelBatch& batch);

  /// Computes the same metrics as evaluation_step, from the output of the last stage. The default implementation throws
  /// kUnsupported.
  virtual std::vector<NamedMetric> metrics(const at::Tensor& output, const ModelBatch& batch);

  /// A function that connects all ranks of the run and returns the object through which they exchange tensors.
  using MakeWorld = std::function<std::unique_ptr<Collective>()>;

  /// Tells the model how to reach the other ranks. The accelerator host calls join() in a run with several ranks. The
  /// model calls `make_world` when it exchanges tensors for the first time. Without join(), the functions below behave
  /// as on a single rank.
  void join(MakeWorld make_world) { make_world_ = std::move(make_world); }

 protected:
  const ModelContext& context() const { return context_; }

  // With the following functions, the models of all ranks can exchange tensors in the middle of a step. Every rank must
  // make the same calls in the same order; otherwise the ranks wait for each other until a timeout ends the run. A call
  // must therefore not depend on a condition that can differ between ranks, such as the size of a batch. The functions
  // cannot be used with the strategy `pipeline`, where ranks compute different parts of the model. No gradient flows
  // through the results. On a single rank, the result is the rank's own tensor, to which all_gather() adds a first
  // dimension of size 1.

  /// Combines the tensors of all ranks element by element with `op`, and returns the result. The tensors must have the
  /// same shape and type on every rank.
  at::Tensor sync_tensor(const at::Tensor& tensor, ReduceOp op = ReduceOp::kMean);
  /// Returns the tensors of all ranks, stacked along a new first dimension: (ranks, ...). The tensors must have the
  /// same shape and type on every rank.
  at::Tensor all_gather(const at::Tensor& tensor);
  /// Returns the tensor of rank `root`. The tensors must have the same shape and type on every rank.
  at::Tensor broadcast(const at::Tensor& tensor, std::uint32_t root = 0);

 private:
  Collective* world();

  ModelContext context_;
  MakeWorld make_world_;
  std::unique_ptr<Collective> world_;
};

}  // namespace trainyard

/// Registers the class `Class` as the model `name`. `description` is a short text for users. The macro must be the last
/// line of the model's .cpp, outside of any namespace.
#define TRAINYARD_MODEL(Class, name, description) \
  TRAINYARD_PLUGIN("model", ::trainyard::Model, ::trainyard::ModelContext, Class, name, "1", description)
