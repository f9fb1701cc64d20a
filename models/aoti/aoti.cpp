// SPDX-License-Identifier: Apache-2.0
#include "models/aoti/aoti.h"

#include <ATen/ops/zeros.h>

#include <algorithm>

#include "messages/error.h"
#include "models/aoti/package.h"
#include "models/classification.h"

namespace trainyard {

namespace {

/// The memory of an integer that the compiler has removed, such as the number of batches that a batch norm has seen.
/// The code does not need it, but checkpoints contain it.
at::Tensor removed_integer(const aoti::StateTensor& described) { return at::zeros(described.shape, at::kLong); }

}  // namespace

Aoti::Aoti(ModelContext& context) : Model(context) {}
Aoti::~Aoti() = default;

ModelTraits Aoti::traits() const { return classifies(*loss_) ? ModelTraits{{TargetKind::kClass}} : ModelTraits{}; }

void Aoti::build(const DatasetInfo& data) {
  check_fields(*loss_, data, where());
  vocabulary_ = data.vocabulary;
  load();
  list_tensors();
}

void Aoti::load() {
  if (!*trust_) {
    throw Error(Code::kInvalidArgument,
                "{}: '{}' is not loaded: an AOTInductor package contains machine code that runs with your rights; give "
                "trust = true if you know who made it",
                where(), *path_);
  }
  if (context().log) context().log->warn("{}: runs the code in '{}', as trust = true allows", where(), *path_);
  package_ = std::make_unique<aoti::Package>(*path_, where());
}

/// Lists the constants of the package as parameters and buffers. A tensor of the module that is missing among them is
/// either unused, or its values have been compiled into the code, so that those of a checkpoint would have no effect.
void Aoti::list_tensors() {
  const std::map<std::string, at::Tensor> constants = package_->constants();
  const auto add = [this](const std::string& name, at::Tensor tensor, bool trained) {
    if (trained) tensor.set_requires_grad(true);
    (trained ? parameters_ : buffers_).push_back({name, std::move(tensor)});
  };
  if (const auto state = package_->state()) {
    for (const aoti::StateTensor& described : *state) {
      const auto found = constants.find(described.name);
      if (found != constants.end()) {
        add(described.name, found->second, described.trained);
      } else if (described.type == "int64") {
        add(described.name, removed_integer(described), false);
      } else {
        throw Error(
            Code::kUnsupported,
            "{}: the values of '{}' cannot be replaced in '{}', because the compiler has put them into the code "
            "or removed them; compile with always_keep_tensor_constants = True",
            where(), described.name, *path_);
      }
    }
  } else {
    for (const auto& [name, tensor] : constants) add(name, tensor, tensor.scalar_type() == at::kFloat);
  }
  if (parameters_.empty()) {
    throw Error(Code::kUnsupported,
                "{}: '{}' has 0 parameters whose values can be replaced; compile with always_keep_tensor_constants = "
                "True, and without freezing",
                where(), *path_);
  }
}

at::Tensor Aoti::forward(const at::Tensor& input) {
  std::vector<NamedTensor> all = parameters_;
  all.insert(all.end(), buffers_.begin(), buffers_.end());
  package_->use(all);
  const bool converts = input.is_floating_point() || input.scalar_type() == at::kByte;
  return package_->run(converts ? float_input(input, parameters_.front().tensor.scalar_type()) : input);
}

at::Tensor Aoti::training_step(const ModelBatch& /*batch*/) {
  throw Error(Code::kUnsupported,
              "{}: '{}' cannot be trained, because an AOTInductor package computes the forward pass only; train the "
              "module with the model 'torchscript', or set mode to 'validate', 'test' or 'predict' in [run]",
              where(), *path_);
}

std::vector<NamedMetric> Aoti::evaluation_step(const ModelBatch& batch) {
  return output_metrics(*loss_, forward(batch.tensors[0]), batch.tensors[1], where());
}

Prediction Aoti::predict(const ModelBatch& batch) {
  if (batch.tensors.empty())
    return Model::predict(batch);  // This throws kUnsupported, because the model cannot generate.
  return output_prediction(*loss_, forward(batch.tensors[0]), vocabulary_);
}

}  // namespace trainyard

TRAINYARD_MODEL(trainyard::Aoti, "aoti", "A module compiled in Python with AOTInductor, for evaluation and prediction.")
