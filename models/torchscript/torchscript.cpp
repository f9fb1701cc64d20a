// SPDX-License-Identifier: Apache-2.0
#include "models/torchscript/torchscript.h"

#include <torch/csrc/jit/runtime/profiling_graph_executor_impl.h>
#include <torch/script.h>

#include <algorithm>
#include <filesystem>

#include "messages/error.h"
#include "models/classification.h"
#include "tensors/bridge.h"
#include "tensors/version.h"

namespace trainyard {
namespace {

/// Returns the message of an error without the list of C++ stack frames at the end of LibTorch's messages.
std::string without_frames(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find("\nException raised from"));
}

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

ModelTraits TorchScript::traits() const { return classifies() ? ModelTraits{{TargetKind::kClass}} : ModelTraits{}; }

void TorchScript::build(const DatasetInfo& data) {
  if (data.fields.size() != 2) {
    throw Error(Code::kShapeMismatch, "{} needs two fields, input and target; dataset '{}' has {}", where(),
                data.dataset, data.fields.size());
  }
  if (classifies()) classification_sizes(data, where());
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
                to_text({input.sizes().data(), input.sizes().size()}), without_frames(error));
  }
  if (!result.isTensor()) {
    throw Error(Code::kUnsupported, "{}: forward of '{}' returns a {}; one tensor is needed", where(), *path_,
                result.tagKind());
  }
  return result.toTensor();
}

/// Returns the mean loss over the batch, in float32 or a wider type. For a regression, the target is converted to the
/// type of the result, and reshaped if it has the same number of elements, for example from (B) to (B, 1).
at::Tensor TorchScript::loss_of(const at::Tensor& result, const at::Tensor& target) const {
  const at::Tensor output = at_least_float(result);
  if (*loss_ == torchscript::Loss::kCrossEntropy) return classification_loss(output, target);
  if (*loss_ == torchscript::Loss::kNll) return at::nll_loss(output, target.to(at::kLong).view(-1));
  if (output.numel() != target.numel()) {
    throw Error(Code::kShapeMismatch,
                "{}: loss '{}' compares numbers one by one; forward returns {}, the target has {}", where(),
                name_of(*loss_), to_text({output.sizes().data(), output.sizes().size()}),
                to_text({target.sizes().data(), target.sizes().size()}));
  }
  const at::Tensor wanted = target.to(output.scalar_type()).view_as(output);
  if (*loss_ == torchscript::Loss::kMse) return at::mse_loss(output, wanted);
  if (*loss_ == torchscript::Loss::kL1) return at::l1_loss(output, wanted);
  return at::binary_cross_entropy_with_logits(output, wanted);
}

at::Tensor TorchScript::training_step(const ModelBatch& batch) {
  return loss_of(forward(batch.tensors[0]), batch.tensors[1]);
}

std::vector<NamedMetric> TorchScript::evaluation_step(const ModelBatch& batch) {
  const at::Tensor output = forward(batch.tensors[0]);
  std::vector<NamedMetric> metrics{{"loss", loss_of(output, batch.tensors[1])}};
  if (classifies()) metrics.push_back(classification_metrics(output, batch.tensors[1]).at(1));
  return metrics;
}

Prediction TorchScript::predict(const ModelBatch& batch) {
  if (batch.tensors.empty())
    return Model::predict(batch);  // This throws kUnsupported, because the model cannot generate.
  const at::Tensor output = forward(batch.tensors[0]);
  if (classifies()) return classification_prediction(output, vocabulary_);
  Prediction prediction{.title = "output", .text = "", .tensors = {}};
  prediction.tensors = {message_of(output.to(at::kCPU).contiguous())};
  return prediction;
}

}  // namespace trainyard

TRAINYARD_MODEL(trainyard::TorchScript, "torchscript", "A module exported from Python, trained on the loss you choose.")
