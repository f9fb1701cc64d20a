// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/output_loss.h"

namespace trainyard {

namespace aoti {
class Package;
struct StateTensor;
}  // namespace aoti

/// A model whose layers were compiled in Python with AOTInductor, for example with
/// `torch._inductor.aoti_compile_and_package(torch.export.export(module, (example,)), package_path="net.pt2")`.
///
/// A package computes only the forward pass, and only for the device, the types and the shapes for which it was
/// compiled. So this model evaluates and predicts, and refuses to train. Its weights are those of the package or, if
/// the run resumes, those of the checkpoint. The compiled code reads them from the arena, the memory in which the run
/// keeps parameters and buffers.
///
/// The compiled code does not show which tensors of the module are trained, what they are called in checkpoints, or
/// which of them the compiler has removed. The metadata entry "state" of the package can describe this: a JSON list
/// with one entry [names, type, shape, trained] for each parameter and buffer of the module. `names` is a list, because
/// the module can use a tensor in several places; the first name is used in checkpoints. Without this entry, the
/// tensors of the type float32 are the parameters, and all others are the buffers, in the order of their names.
///
/// A package contains machine code, which runs when the package is loaded. With `trust = true` you confirm that you
/// trust the file.
///
/// Parameters  path   required: the .pt2 file
///             trust  must be true; with false, the default, the file is refused
///             loss   cross_entropy (logits; the default), nll (log probabilities), mse, l1, bce_with_logits
/// Errors      kInvalidArgument (trust), kNotFound, kCorrupt (not a package, or a description that does not fit it),
///             kShapeMismatch (data, input or result), kTypeMismatch (precision), kUnsupported (training, another
///             device, weights that cannot be replaced)
class Aoti final : public Model {
 public:
  explicit Aoti(ModelContext& context);
  ~Aoti() override;

  /// Returns kClass as the kind of targets if `loss` is cross_entropy or nll. For the other losses, returns no kind, so
  /// a dataset with any kind of target is accepted.
  ModelTraits traits() const override;
  void build(const DatasetInfo& data) override;
  std::vector<NamedTensor> parameters() override { return parameters_; }
  std::vector<NamedTensor> buffers() override { return buffers_; }
  /// Does nothing: whether layers such as dropout are active was decided when the module was compiled.
  void set_training(bool /*training*/) override {}
  /// Always throws kUnsupported. The error names the model to use instead.
  at::Tensor training_step(const ModelBatch& batch) override;
  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override;
  Prediction predict(const ModelBatch& batch) override;

 private:
  void load();
  void list_tensors();
  void check_described(const aoti::StateTensor& described, const at::Tensor& tensor) const;
  at::Tensor forward(const at::Tensor& input);

  Parameter<std::string> path_{*this, "path", kRequired, "the .pt2 file"};
  Parameter<bool> trust_{*this, "trust", false, "allow the file to run its code"};
  Parameter<OutputLoss> loss_{*this, "loss", OutputLoss::kCrossEntropy,
                              "how the loss is computed from the module's result and the target"};

  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
  std::unique_ptr<aoti::Package> package_;  ///< Refers to the memory of the tensors above, so it is destroyed first.
  std::vector<std::string> vocabulary_;
};

}  // namespace trainyard
