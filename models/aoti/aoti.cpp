// SPDX-License-Identifier: Apache-2.0
#include "models/aoti/aoti.h"

#include <ATen/ops/zeros.h>
#include <c10/core/ScalarType.h>

#include <algorithm>

#include "messages/error.h"
#include "models/aoti/package.h"
#include "models/classification.h"
#include "models/error_text.h"

namespace trainyard {

namespace {

/// Returns true for a single integer such as `num_batches_tracked`, the number of batches that a batch norm has seen.
/// The compiler removes it, because the code does not need it, but checkpoints contain it. A missing tensor of several
/// integers can be one whose values have been compiled into the code.
bool is_one_integer(const aoti::StateTensor& described) { return described.type == "int64" && described.shape.empty(); }

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

/// Throws kCorrupt unless `tensor`, which stands for a tensor of the module, is as the metadata describes it.
void Aoti::check_described(const aoti::StateTensor& described, const at::Tensor& tensor) const {
  const std::string type = c10::getDtypeNames(tensor.scalar_type()).first;
  if (type != described.type || tensor.sizes() != at::IntArrayRef(described.shape)) {
    throw Error(Code::kCorrupt, "{}: the metadata of '{}' describes tensor '{}' as {} {}, and the package has {} {}",
                where(), *path_, described.names.front(), described.type, to_text(described.shape), type,
                shape_of(tensor));
  }
  if (described.trained && !tensor.is_floating_point() && !tensor.is_complex()) {
    throw Error(Code::kCorrupt,
                "{}: the metadata of '{}' says that tensor '{}' is trained, but its type is {}; only "
                "floating-point numbers can be trained",
                where(), *path_, described.names.front(), type);
  }
}

/// Lists the constants of the package as parameters and buffers. A tensor of the module that is missing among them is
/// either unused, or its values have been compiled into the code, so that those of a checkpoint would have no effect.
void Aoti::list_tensors() {
  const std::map<std::string, at::Tensor> constants = package_->constants();
  const auto add = [this](const std::string& name, at::Tensor tensor, bool trained) {
    if (trained) tensor.set_requires_grad(true);
    (trained ? parameters_ : buffers_).push_back({name, std::move(tensor)});
  };
  if (const auto& state = package_->state()) {
    for (const aoti::StateTensor& described : *state) {
      const std::string& name = described.names.front();
      const auto found = constants.find(name);
      if (found == constants.end() && !is_one_integer(described)) {
        throw Error(
            Code::kUnsupported,
            "{}: the values of '{}' cannot be replaced in '{}', because the compiler has put them into the code "
            "or removed them; compile with always_keep_tensor_constants = True",
            where(), name, *path_);
      }
      const at::Tensor tensor = found == constants.end() ? at::zeros({}, at::kLong) : found->second;
      check_described(described, tensor);
      add(name, tensor, described.trained);
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
