// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/output_loss.h"

namespace trainyard {

/// A model whose layers are a PyTorch module that was exported from Python, for example with
/// `torch.jit.script(module).save("net.pt")`.
///
/// The module's `forward` is called with the input of a batch and must return one tensor. The parameter `loss` selects
/// the function that computes the loss from this tensor and the target. All tensors keep their names, so the weights of
/// a checkpoint can be loaded back into the Python module. Tensors that do not require a gradient are saved but not
/// trained. If the input consists of bytes, they are scaled to floats from 0 to 1.
///
/// A TorchScript file contains a program, and loading the file runs the program. With `trust = true` you confirm that
/// you trust the file.
///
/// Parameters  path   required: the .pt file
///             trust  must be true; with false, the default, the file is refused
///             loss   cross_entropy (logits; the default), nll (log probabilities), mse, l1, bce_with_logits
/// Errors      kInvalidArgument (trust is false; nothing to train), kNotFound, kCorrupt (not TorchScript),
///             kShapeMismatch (dataset or shape of the result), kUnsupported (a result that is not a tensor)
class TorchScript final : public Model {
 public:
  explicit TorchScript(ModelContext& context);
  ~TorchScript() override;

  /// Returns kClass as the kind of targets if `loss` is cross_entropy or nll. For the other losses, returns no kind, so
  /// a dataset with any kind of target is accepted.
  ModelTraits traits() const override;
  void build(const DatasetInfo& data) override;
  std::vector<NamedTensor> parameters() override { return parameters_; }
  std::vector<NamedTensor> buffers() override { return buffers_; }
  void set_training(bool training) override;
  at::Tensor training_step(const ModelBatch& batch) override;
  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override;
  Prediction predict(const ModelBatch& batch) override;

 private:
  struct Module;  // Keeps torch/script.h out of this header.

  void load();
  void list_tensors();
  at::Tensor forward(const at::Tensor& input);

  Parameter<std::string> path_{*this, "path", kRequired, "the .pt file"};
  Parameter<bool> trust_{*this, "trust", false, "allow the file to run its code"};
  Parameter<OutputLoss> loss_{*this, "loss", OutputLoss::kCrossEntropy,
                              "how the loss is computed from the module's result and the target"};

  std::unique_ptr<Module> module_;
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
  std::vector<std::string> vocabulary_;
};

}  // namespace trainyard
