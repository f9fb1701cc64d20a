// SPDX-License-Identifier: Apache-2.0
#include "models/aoti/package.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/config/bounded_json.h"
#include "messages/error.h"
#include "models/error_text.h"
#include "tensors/version.h"

namespace trainyard::aoti {
namespace {

using nlohmann::json;

constexpr const char* kDeviceKey = "AOTI_DEVICE_KEY";
constexpr const char* kStateKey = "state";

/// Returns true if the elements of the tensor lie in memory as these strides say. The stride of a dimension of size 1
/// has no meaning.
bool have_same_order(const at::Tensor& tensor, const std::vector<std::int64_t>& strides) {
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1 && tensor.stride(i) != strides[static_cast<std::size_t>(i)]) return false;
  }
  return true;
}

/// Lets the code of packages compare the shape and the type of each input with what it was compiled for. Without this,
/// the code would read beyond the end of an input that is too small. The code has no other switch, and a package does
/// not say which shapes it takes, so Trainyard cannot compare them itself. setenv() is not safe while another thread
/// reads the environment, so the variable is set as early as a plugin can, when its library is loaded. Where it exists
/// it is left alone, so a run that is started with it changes nothing, and "0" switches the comparison off.
[[maybe_unused]] const int kPackagesCheckInputs = ::setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", /*overwrite=*/0);

/// Returns the kind of device that a package was compiled for, without running its code. Returns an empty string if
/// this LibTorch cannot tell before it has loaded the package.
std::string device_before_loading([[maybe_unused]] const std::string& path) {
#if TRAINYARD_TORCH_READS_AOTI_METADATA
  return torch::inductor::AOTIModelPackageLoader::load_metadata_from_package(path, "model")[kDeviceKey];
#else
  return "";
#endif
}

/// Returns one entry of the state, which is [names, type, shape, trained].
StateTensor described_by(const json& entry) {
  StateTensor tensor{entry.at(0).get<std::vector<std::string>>(), entry.at(1).get<std::string>(),
                     entry.at(2).get<std::vector<std::int64_t>>(), entry.at(3).get<bool>()};
  if (tensor.names.empty()) throw Error(Code::kCorrupt, "a tensor has no name");
  if (std::ranges::any_of(tensor.shape, [](std::int64_t size) { return size < 0; })) {
    throw Error(Code::kCorrupt, "the shape of '{}' is {}, and no size can be negative", tensor.names.front(),
                to_text(tensor.shape));
  }
  return tensor;
}

/// Throws unless this LibTorch has a device of this kind. LibTorch itself would fail in the middle of loading.
void check_device(const std::string& device, const std::string& path, const std::string& where) {
  if (device == "cuda" && !at::globalContext().hasCUDA()) {
    throw Error(Code::kUnsupported, "{}: '{}' was compiled for the device 'cuda', and there is no such device here",
                where, path);
  }
}

}  // namespace

Package::Package(const std::string& path, const std::string& where) : path_(path), where_(where) {
  if (!std::filesystem::is_regular_file(path)) throw Error(Code::kNotFound, "{}: there is no file '{}'", where, path);
  try {
    check_device(device_before_loading(path), path, where);
    loader_ = std::make_unique<torch::inductor::AOTIModelPackageLoader>(path);
    device_ = loader_->get_metadata()[kDeviceKey];
    list_constants();
    read_state();
    use_first_names();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(Code::kCorrupt, "{}: '{}' is not an AOTInductor package that this LibTorch loads: {}", where, path,
                without_frames(error));
  }
}

Package::~Package() = default;

void Package::list_constants() {
  std::map<std::string, std::string> names_in_code;
  for (const auto& [in_code, name] : loader_->get_runner()->getConstantNamesToOriginalFQNs()) {
    names_in_code[name] = in_code;
  }
  for (const auto& [name, tensor] : loader_->get_runner()->extract_constants_map(/*use_inactive=*/false)) {
    // A tensor without a name was not in the state of the module.
    if (!name.empty()) compiled_[name] = {{names_in_code.at(name)}, name, tensor.scalar_type(), tensor.strides().vec()};
  }
}

std::map<std::string, at::Tensor> Package::constants() const {
  const at::NoGradGuard no_gradients;
  std::map<std::string, at::Tensor> copies;
  const auto tensors = loader_->get_runner()->extract_constants_map(/*use_inactive=*/false);
  for (const auto& [name, compiled] : compiled_) {
    copies[name] = tensors.at(compiled.name_in_package).detach().to(at::kCPU).clone();
  }
  return copies;
}

void Package::read_state() {
  const auto metadata = loader_->get_metadata();
  const auto found = metadata.find(kStateKey);
  if (found == metadata.end()) return;
  try {
    const auto list = parse_bounded_json(found->second);
    if (!list) throw Error(Code::kCorrupt, "it is not JSON");
    state_.emplace();
    for (const json& entry : *list) state_->push_back(described_by(entry));
  } catch (const std::exception& error) {
    throw Error(Code::kCorrupt,
                "{}: the metadata entry '{}' of '{}' is not a list of [names, type, shape, trained]: {}", where_,
                kStateKey, path_, error.what());
  }
}

/// The compiler keeps one name of a tensor that has several, and not always the first, which checkpoints have.
void Package::use_first_names() {
  if (!state_) return;
  for (const StateTensor& described : *state_) {
    const std::string& first = described.names.front();
    for (const std::string& other : described.names) {
      if (other == first) continue;
      auto found = compiled_.extract(other);
      if (found.empty()) continue;
      found.key() = first;
      const auto result = compiled_.insert(std::move(found));
      if (result.inserted) continue;
      const std::vector<std::string>& more = result.node.mapped().names_in_code;
      std::vector<std::string>& all = result.position->second.names_in_code;
      all.insert(all.end(), more.begin(), more.end());
    }
  }
}

/// The code was compiled for one device, one type and one order of the elements of each constant.
void Package::check_usable(const NamedTensor& named, const Compiled& compiled) const {
  const std::string device = c10::DeviceTypeName(named.tensor.device().type(), /*lower_case=*/true);
  if (device != device_) {
    throw Error(Code::kUnsupported, "{}: '{}' was compiled for the device '{}', and this run computes on '{}'", where_,
                path_, device_, device);
  }
  if (named.tensor.scalar_type() != compiled.type) {
    throw Error(Code::kTypeMismatch,
                "{}: tensor '{}' is {} with the precision of this run, and '{}' was compiled for {}", where_,
                named.name, at::toString(named.tensor.scalar_type()), path_, at::toString(compiled.type));
  }
  if (!have_same_order(named.tensor, compiled.strides)) {
    throw Error(Code::kUnsupported,
                "{}: '{}' was compiled for a tensor '{}' whose elements do not lie row by row; call contiguous() on it "
                "before the export",
                where_, path_, named.name);
  }
}

void Package::use(const std::vector<NamedTensor>& tensors) {
  const auto is_used = [this](const NamedTensor& named) {
    const auto found = used_.find(named.name);
    return !compiled_.contains(named.name) ||
           (found != used_.end() && found->second.data_ptr() == named.tensor.data_ptr());
  };
  if (std::ranges::all_of(tensors, is_used)) return;
  torch::inductor::TensorConstantMap by_name_in_code;
  for (const NamedTensor& named : tensors) {
    const auto compiled = compiled_.find(named.name);
    if (compiled == compiled_.end()) continue;
    check_usable(named, compiled->second);
    used_[named.name] = named.tensor.detach();
    for (const std::string& name : compiled->second.names_in_code) by_name_in_code[name] = &used_[named.name];
  }
  // With user_managed, the code keeps the pointers in the map. Otherwise it would copy the whole storage of each
  // tensor, which for a tensor in the arena is the whole arena.
  loader_->get_runner()->update_constant_buffer(by_name_in_code, /*use_inactive=*/false,
                                                /*validate_full_updates=*/false, /*user_managed=*/true);
}

at::Tensor Package::run(const at::Tensor& input) {
  std::vector<at::Tensor> outputs;
  try {
    outputs = loader_->run({input.contiguous()});
  } catch (const std::exception& error) {
    // If the code refuses the input, LibTorch's text says only that a call failed; the code itself writes why.
    throw Error(Code::kShapeMismatch,
                "{}: '{}' does not compute with an input of shape {} and type {}; the standard error output says what "
                "it was compiled for: {}",
                where_, path_, shape_of(input), at::toString(input.scalar_type()), without_frames(error));
  }
  if (outputs.size() != 1) {
    throw Error(Code::kUnsupported, "{}: '{}' returns {} tensors; one is needed", where_, path_, outputs.size());
  }
  return outputs.front();
}

}  // namespace trainyard::aoti
