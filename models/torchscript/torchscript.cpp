// SPDX-License-Identifier: Apache-2.0
#include "models/torchscript/torchscript.h"

#include <torch/csrc/jit/runtime/profiling_graph_executor_impl.h>
#include <torch/script.h>

#include <algorithm>
#include <filesystem>

#include "messages/error.h"
#include "models/classification.h"
#include "models/error_text.h"
#include "tensors/version.h"

namespace trainyard {
namespace {

/// Returns true if the tensor is in the list. A module may refer to a tensor by several names; such a tensor is listed
/// only once.
bool contains(const std::vector<NamedTensor>& list, const at::Tensor& tensor) {
  return std::ranges::any_of(list, [&](const NamedTensor& one) { return one.tensor.is_same(tensor); });
}

}  // namespace

struct TorchScript::Module {
  torch::jit::Module script;
};

TorchScript::TorchScript(ModelContext& context) : Model(context) {}
TorchScript::~TorchScript() = default;

ModelTraits TorchScript::traits() const {
  return classifies(*loss_) ? ModelTraits{{TargetKind::kClass}} : ModelTraits{};
}

void TorchScript::build(const DatasetInfo& data) {
  check_fields(*loss_, data, where());
  vocabulary_ = data.vocabulary;
  load();
  list_tensors();
}

void TorchScript::load() {
  if (!*trust_) {
    throw Error(
        Code::kInvalidArgument,
        "{}: '{}' is not loaded: a TorchScript file is a program and runs with your rights; give trust = true if "
        "you know who made it",
        where(), *path_);
  }
  if (!std::filesystem::is_regular_file(*path_)) {
    throw Error(Code::kNotFound, "{}: there is no file '{}'", where(), *path_);
  }
  if (context().log) context().log->warn("{}: runs the code in '{}', as trust = true allows", where(), *path_);
  if (!kTorchScriptSpecializes) torch::jit::getProfilingMode() = false;
  try {
    module_ = std::make_unique<Module>(Module{torch::jit::load(*path_, at::kCPU)});
  } catch (const std::exception& error) {  // LibTorch's parser does not throw c10::Error.
    throw Error(Code::kCorrupt, "{}: '{}' is not a TorchScript file that this LibTorch reads: {}", where(), *path_,
                without_frames(error));
  }
}

void TorchScript::list_tensors() {
  for (const auto& named : module_->script.named_parameters()) {
    if (contains(parameters_, named.value) || contains(buffers_, named.value)) continue;
    (named.value.requires_grad() ? parameters_ : buffers_).push_back({named.name, named.value});
  }
  for (const auto& named : module_->script.named_buffers()) {
    if (!contains(buffers_, named.value)) buffers_.push_back({named.name, named.value});
  }
  if (parameters_.empty()) {
    throw Error(Code::kInvalidArgument,
                "{}: the module in '{}' has 0 parameters that require a gradient; a frozen "
                "module cannot be trained",
                where(), *path_);
  }
}

void TorchScript::set_training(bool training) { module_->script.train(training); }

/// Calls the module. The errors of the module contain PyTorch's message, which names the lines of the module's source.
at::Tensor TorchScript::forward(const at::Tensor& input) {
  c10::IValue result;
  try {
    result = module_->script.forward({float_input(input, parameters_.front().tensor.scalar_type())});
  } catch (const std::exception& error) {
    throw Error(Code::kShapeMismatch, "{}: forward of '{}' failed for an input of shape {}: {}", where(), *path_,
                shape_of(input), without_frames(error));
  }
  if (!result.isTensor()) {
    throw Error(Code::kUnsupported, "{}: forward of '{}' returns a {}; one tensor is needed", where(), *path_,
                result.tagKind());
  }
  return result.toTensor();
}

at::Tensor TorchScript::training_step(const ModelBatch& batch) {
  return output_loss(*loss_, forward(batch.tensors[0]), batch.tensors[1], where());
}

std::vector<NamedMetric> TorchScript::evaluation_step(const ModelBatch& batch) {
  return output_metrics(*loss_, forward(batch.tensors[0]), batch.tensors[1], where());
}

Prediction TorchScript::predict(const ModelBatch& batch) {
  if (batch.tensors.empty())
    return Model::predict(batch);  // This throws kUnsupported, because the model cannot generate.
  return output_prediction(*loss_, forward(batch.tensors[0]), vocabulary_);
}

}  // namespace trainyard

TRAINYARD_MODEL(trainyard::TorchScript, "torchscript", "A module exported from Python, trained on the loss you choose.")
