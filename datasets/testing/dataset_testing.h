// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "datasets/dataset.h"
#include "messages/tensor.h"

namespace trainyard::testing {

/// Constructs a dataset of type D in the same way as the data loader does, and opens it. `json` contains its
/// parameters.
template <class D>
class Opened {
 public:
  explicit Opened(const std::string& json, std::uint64_t seed = 1) {
    context_.where = "dataset under test";
    context_.parameters = json;
    context_.seed = seed;
    dataset_ = std::make_unique<D>(context_);
    dataset_->check_all_given_are_known();
    dataset_->open();
  }
  D* operator->() { return dataset_.get(); }
  D& operator*() { return *dataset_; }

 private:
  DatasetContext context_;
  std::unique_ptr<D> dataset_;
};

/// Reads one sample and returns it as one tensor for each field, in the order of the fields.
inline std::vector<Tensor> read_sample(const Dataset& dataset, std::string_view split, std::uint64_t index) {
  std::vector<Tensor> tensors;
  std::vector<std::span<std::byte>> spans;
  for (const DatasetField& field : dataset.info().fields) {
    tensors.push_back(Tensor::empty(static_cast<DType>(field.dtype), field.shape));
    spans.push_back(tensors.back().buffer.bytes());
  }
  dataset.read(split, index, spans);
  return tensors;
}

/// Returns the elements of a tensor.
template <class T>
std::vector<T> values(const Tensor& tensor) {
  return {tensor.as<T>().begin(), tensor.as<T>().end()};
}

/// Returns the path of the file `name` of a real dataset, which is not part of the source tree. The function searches
/// in the folder $TRAINYARD_TEST_DATA, then in `../shared/data` beside the source tree. Returns an empty path if the
/// file does not exist; the test should then be skipped.
inline std::string real_data(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path sources = fs::path(__FILE__).parent_path().parent_path().parent_path();
  std::vector<fs::path> places{sources / ".." / "shared" / "data"};
  if (const char* given = std::getenv("TRAINYARD_TEST_DATA")) places.insert(places.begin(), given);
  for (const fs::path& place : places) {
    if (fs::exists(place / name)) return fs::weakly_canonical(place / name).string();
  }
  return {};
}

}  // namespace trainyard::testing
