// SPDX-License-Identifier: Apache-2.0
#include "datasets/idx/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/tensor.h"

namespace trainyard {

// open() reads all files into memory. read() then only looks up and converts values, so several threads can call it.

namespace {

namespace fs = std::filesystem;

/// Returns the path of the file `name`, with or without `.gz`, or an empty text if neither exists.
std::string find_file(const std::string& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    const fs::path path = fs::path(folder) / (name + ending);
    if (fs::is_regular_file(path)) return path.string();
  }
  return {};
}

/// The paths of a file with images and of the file with their labels. The path of a file that does not exist is empty.
struct Paths {
  std::string images;
  std::string labels;
  bool complete() const { return !images.empty() && !labels.empty(); }
};

Paths find_set(const std::string& folder, const std::string& set) {
  return {find_file(folder, set + "-images-idx3-ubyte"), find_file(folder, set + "-labels-idx1-ubyte")};
}

}  // namespace

void Idx::open() {
  const bool files_given = !images_->empty() && !labels_->empty();
  const bool any_file_given = !images_->empty() || !labels_->empty();
  // The user must give either both files or the folder. If both were given, one of them would be silently ignored.
  if (folder_->empty() ? !files_given : any_file_given) {
    throw Error(Code::kInvalidArgument,
                "{}: images = \"{}\", labels = \"{}\", folder = \"{}\"; allowed: both files, or a folder", where(),
                *images_, *labels_, *folder_);
  }
  if (files_given) {
    main_ = read_files(*images_, *labels_);
  } else {
    open_folder();
  }
  divide();
  make_pixel_table();
}

void Idx::open_folder() {
  const Paths train = find_set(*folder_, "train");
  const Paths test = find_set(*folder_, "t10k");
  if (!train.complete() && !test.complete()) {
    throw Error(
        Code::kNotFound,
        "{}: the folder {} has no images and labels; looked for train-images-idx3-ubyte, train-labels-idx1-ubyte "
        "and t10k-..., each with and without .gz",
        where(), *folder_);
  }
  // A folder that contains only the test set can be used to evaluate a trained model.
  const Paths& main = train.complete() ? train : test;
  main_ = read_files(main.images, main.labels);
  if (train.complete() && test.complete()) test_ = read_files(test.images, test.labels);
}

Idx::Files Idx::read_files(const std::string& images, const std::string& labels) const {
  // The whole files are kept in memory, because samples are read in random order and MNIST has only 47 MB.
  Files files{idx::read_file(images, 2), idx::read_file(labels, 1)};
  if (files.labels.shape.size() != 1) {
    throw Error(Code::kCorrupt, "{} at offset 3: labels of shape {}; allowed: one dimension", labels,
                to_text(files.labels.shape));
  }
  if (files.images.samples() != files.labels.samples()) {
    throw Error(Code::kShapeMismatch, "{} has {} images, but {} has {} labels", images, files.images.samples(), labels,
                files.labels.samples());
  }
  return files;
}

/// Divides the samples into splits. The first samples are for training, as in the published splits of MNIST, so the
/// division is not random.
void Idx::divide() {
  const std::uint64_t all = main_.images.samples();
  const auto wanted = static_cast<std::uint64_t>(*train_count_);
  if (wanted > all) {
    throw Error(Code::kInvalidArgument, "{}: train_count = {}, but {} has {} samples; allowed: 0 to {}", where(),
                wanted, main_.images.path, all, all);
  }
  const std::uint64_t train = wanted == 0 ? all : wanted;
  splits_ = {{"train", &main_, 0, train}};
  if (train < all) splits_.push_back({"validate", &main_, train, all - train});
  if (!test_) return;
  if (!std::ranges::equal(std::span(test_->images.shape).subspan(1), std::span(main_.images.shape).subspan(1))) {
    throw Error(Code::kShapeMismatch, "{} has shape {}, but {} has {}", test_->images.path,
                to_text(test_->images.shape), main_.images.path, to_text(main_.images.shape));
  }
  splits_.push_back({"test", &*test_, 0, test_->images.samples()});
}

/// Computes the normalised value of each byte, in single precision and in the same order of operations as torchvision's
/// ToTensor and Normalize.
void Idx::make_pixel_table() {
  for (std::size_t byte = 0; byte < pixel_.size(); ++byte) {
    const float scaled = static_cast<float>(byte) / 255.0f;
    pixel_[byte] = (scaled - static_cast<float>(*mean_)) / static_cast<float>(*std_);
  }
}

/// Returns the shape of one sample. Images without a channel dimension get one channel, as convolutions require.
std::vector<std::int64_t> Idx::input_shape() const {
  if (*flatten_) return {static_cast<std::int64_t>(main_.images.sample_bytes())};
  std::vector<std::int64_t> shape(main_.images.shape.begin() + 1, main_.images.shape.end());
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  return shape;
}

DatasetInfo Idx::info() const {
  DatasetInfo info;
  info.dataset = "idx";
  for (const Split& split : splits_) info.splits.push_back({split.name, split.samples});
  info.fields = {{"input", static_cast<std::uint8_t>(DType::kFloat32), input_shape()},
                 {"target", static_cast<std::uint8_t>(DType::kInt64), {}}};
  // IDX files do not contain the number of classes. It follows from the largest label in all splits, so that the model
  // has an output for every label.
  std::uint8_t largest = 0;
  for (const Split& split : splits_) largest = std::max(largest, *std::ranges::max_element(split.files->labels.bytes));
  info.classes = largest + 1u;
  for (std::uint64_t label = 0; label < info.classes; ++label) info.vocabulary.push_back(fmt::to_string(label));
  info.learnt = {{"mean", fmt::to_string(*mean_)}, {"std", fmt::to_string(*std_)}};
  return info;
}

const Idx::Split& Idx::split_named(std::string_view name) const {
  for (const Split& split : splits_) {
    if (split.name == name) return split;
  }
  std::vector<std::string> known;
  for (const Split& split : splits_) known.push_back(split.name);
  throw Error(Code::kNotFound, "{}: no split named '{}'{}", where(), name, suggestion(name, known));
}

void Idx::read(std::string_view split_name, std::uint64_t index, std::span<const std::span<std::byte>> fields) const {
  const Split& split = split_named(split_name);
  check_sample(split_name, index, split.samples);
  // It was checked above that index < split.samples.
  const std::uint64_t sample = split.first + index;
  const std::size_t pixels = split.files->images.sample_bytes();
  const std::uint8_t* bytes = split.files->images.bytes.data() + sample * pixels;
  auto* input = reinterpret_cast<float*>(fields[0].data());
  // A table replaces the arithmetic, because there are only 256 different values.
  for (std::size_t i = 0; i < pixels; ++i) input[i] = pixel_[bytes[i]];
  const std::int64_t label = split.files->labels.bytes[sample];
  std::memcpy(fields[1].data(), &label, sizeof label);
}

}  // namespace trainyard

TRAINYARD_DATASET(trainyard::Idx, "idx", "Labelled images in IDX files, as MNIST comes, gzipped or not.")
