// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/image_folder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "datasets/partition.h"
#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {

namespace fs = std::filesystem;

void ImageFolder::open() {
  std::error_code ignored;  // If the folder cannot be accessed, reading it below throws an error.
  if (fs::is_directory(fs::path(*folder_) / "train", ignored)) {
    open_splits();
  } else {
    refuse_missing_train();
    open_whole();
  }
}

/// Throws an error if the folder of another split exists although there is no `train`. Otherwise, that folder would be
/// mistaken for the folder of a class, such as a class named "test".
void ImageFolder::refuse_missing_train() const {
  for (const char* split : {"val", "validate", "test"}) {
    if (!image_folder::looks_like_a_split((fs::path(*folder_) / split).string())) continue;
    throw Error(Code::kNotFound,
                "{}: {} has a folder '{}' of a split, but no folder 'train'; allowed: 'train' beside it, or one folder "
                "with pictures for every class",
                where(), *folder_, split);
  }
}

void ImageFolder::open_splits() {
  const fs::path folder(*folder_);
  add_split("train", (folder / "train").string());
  for (const auto& [split, name] : {std::pair("validate", "val"), {"validate", "validate"}, {"test", "test"}}) {
    std::error_code ignored;
    if (splits_.back().name != split && fs::is_directory(folder / name, ignored))
      add_split(split, (folder / name).string());
  }
}

/// Adds a split. Throws an error if its classes differ from those of "train", because a number would then mean
/// different classes in the two splits.
void ImageFolder::add_split(const std::string& name, const std::string& folder) {
  image_folder::PictureFolder found = image_folder::scan_pictures(folder);
  if (splits_.empty()) classes_ = found.classes;
  for (std::size_t i = 0; i < std::max(classes_.size(), found.classes.size()); ++i) {
    const std::string ours = i < classes_.size() ? "'" + classes_[i] + "'" : "none";
    const std::string theirs = i < found.classes.size() ? "'" + found.classes[i] + "'" : "none";
    if (ours == theirs) continue;
    throw Error(Code::kShapeMismatch,
                "{}: class {} of {} is {}, but of the split 'train' it is {}; allowed: the same classes", where(), i,
                folder, theirs, ours);
  }
  splits_.push_back({name, std::move(found.files)});
}

void ImageFolder::open_whole() {
  image_folder::PictureFolder found = image_folder::scan_pictures(*folder_);
  classes_ = std::move(found.classes);
  const std::uint64_t all = found.files.size();
  const auto seed = static_cast<std::uint64_t>(*split_seed_);
  const Partition parts = partition_of(all, *split_, *validate_fraction_, seed);
  splits_ = {{"train", {}}, {"validate", {}}};
  for (const std::uint64_t file : parts.train) splits_[0].files.push_back(found.files[file]);
  for (const std::uint64_t file : parts.validate) splits_[1].files.push_back(found.files[file]);
  if (parts.validate.empty()) splits_.pop_back();
  if (!parts.train.empty()) return;
  throw Error(Code::kInvalidArgument, "{}: of the {} pictures of {} none is left to train on (validate_fraction = {})",
              where(), all, *folder_, *validate_fraction_);
}

DatasetInfo ImageFolder::info() const {
  DatasetInfo info;
  info.dataset = "image_folder";
  for (const Split& split : splits_) info.splits.push_back({split.name, split.files.size()});
  info.fields = {{"input", static_cast<std::uint8_t>(DType::kUInt8), {3, *size_, *size_}},
                 {"target", static_cast<std::uint8_t>(DType::kInt64), {}}};
  info.classes = classes_.size();
  info.vocabulary = classes_;
  info.attributes = {{"folder", *folder_}};
  return info;
}

const ImageFolder::Split& ImageFolder::split_named(std::string_view name) const {
  std::vector<std::string> known;
  for (const Split& split : splits_) {
    if (split.name == name) return split;
    known.push_back(split.name);
  }
  throw Error(Code::kNotFound, "{}: no split named '{}'{}", where(), name, suggestion(name, known));
}

std::unique_ptr<image_folder::PictureReader> ImageFolder::take_reader() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<image_folder::PictureReader> reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  const image_folder::PictureShape shape{static_cast<std::size_t>(*size_), *fit_ == "crop"};
  return std::make_unique<image_folder::PictureReader>(
      shape, image_folder::PictureLimits{static_cast<std::uint64_t>(*max_pixels_)});
}

void ImageFolder::read(std::string_view split_name, std::uint64_t index,
                       std::span<const std::span<std::byte>> fields) const {
  const Split& split = split_named(split_name);
  check_sample(split_name, index, split.files.size());
  const image_folder::PictureFile& file = split.files[index];
  std::unique_ptr<image_folder::PictureReader> reader = take_reader();
  // A reader that throws is not returned to the list but destroyed, so a damaged file cannot affect later pictures.
  reader->read(file.path, {reinterpret_cast<std::uint8_t*>(fields[0].data()), fields[0].size()});
  std::memcpy(fields[1].data(), &file.label, sizeof file.label);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(reader));
}

}  // namespace trainyard

TRAINYARD_DATASET(trainyard::ImageFolder, "image_folder", "PNG and JPEG pictures in folders, one for every class.")
