// SPDX-License-Identifier: Apache-2.0
#include "datasets/cifar10/cifar10.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {
namespace {

constexpr std::uint64_t kPixels = std::uint64_t{3} * 32 * 32;
constexpr std::uint64_t kRecord = 1 + kPixels;  ///< The label comes first.
constexpr std::array<const char*, 10> kClasses{"airplane", "automobile", "bird",  "cat",  "deer",
                                               "dog",      "frog",       "horse", "ship", "truck"};

std::uint64_t records_of(const MappedFile& file) { return file.size() / kRecord; }

std::uint64_t records_of(const std::vector<MappedFile>& files) {
  std::uint64_t sum = 0;
  for (const MappedFile& file : files) sum += records_of(file);
  return sum;
}

/// Checks the size of a file and all its labels, so that a damaged file is noticed before the first step.
void check(const MappedFile& file) {
  const std::uint64_t complete = records_of(file) * kRecord;
  if (file.size() == 0 || complete != file.size()) {
    throw Error(Code::kCorrupt, "{} at offset {}: the file ends after {} bytes of a record; a record has {} bytes",
                file.path(), complete, file.size() - complete, kRecord);
  }
  for (std::uint64_t offset = 0; offset < file.size(); offset += kRecord) {
    const auto label = std::to_integer<unsigned>(file.bytes()[offset]);
    if (label < kClasses.size()) continue;
    throw Error(Code::kCorrupt, "{} at offset {}: label {}; allowed: 0 to {}", file.path(), offset, label,
                kClasses.size() - 1);
  }
}

/// Returns the record with the number `sample`, where the numbering continues from each file to the next.
const std::byte* record(const std::vector<MappedFile>& files, std::uint64_t sample) {
  auto file = files.begin();
  for (; sample >= records_of(*file); ++file) sample -= records_of(*file);
  return file->bytes().data() + sample * kRecord;
}

}  // namespace

void Cifar10::open() {
  const std::filesystem::path folder(*folder_);
  for (std::int64_t number = 1; number <= *file_count_; ++number) {
    check(batches_.emplace_back((folder / fmt::format("data_batch_{}.bin", number)).string()));
  }
  const std::filesystem::path test = folder / "test_batch.bin";
  if (std::filesystem::exists(test)) check(test_.emplace_back(test.string()));
  divide();
}

void Cifar10::divide() {
  const std::uint64_t all = records_of(batches_);
  const auto wanted = static_cast<std::uint64_t>(*train_count_);
  if (wanted > all) {
    throw Error(Code::kInvalidArgument, "{}: train_count = {}, but the files of {} have {} samples; allowed: 0 to {}",
                where(), wanted, *folder_, all, all);
  }
  const std::uint64_t train = wanted == 0 ? all : wanted;
  splits_ = {{"train", &batches_, 0, train}};
  if (train < all) splits_.push_back({"validate", &batches_, train, all - train});
  if (!test_.empty()) splits_.push_back({"test", &test_, 0, records_of(test_)});
}

DatasetInfo Cifar10::info() const {
  DatasetInfo info;
  info.dataset = "cifar10";
  for (const Split& split : splits_) info.splits.push_back({split.name, split.samples});
  info.fields = {{"input", static_cast<std::uint8_t>(DType::kUInt8), {3, 32, 32}},
                 {"target", static_cast<std::uint8_t>(DType::kInt64), {}}};
  info.classes = kClasses.size();
  info.vocabulary.assign(kClasses.begin(), kClasses.end());
  return info;
}

const Cifar10::Split& Cifar10::split_named(std::string_view name) const {
  std::vector<std::string> known;
  for (const Split& split : splits_) {
    if (split.name == name) return split;
    known.push_back(split.name);
  }
  throw Error(Code::kNotFound, "{}: no split named '{}'{}", where(), name, suggestion(name, known));
}

void Cifar10::read(std::string_view split_name, std::uint64_t index,
                   std::span<const std::span<std::byte>> fields) const {
  const Split& split = split_named(split_name);
  check_sample(split_name, index, split.samples);
  const std::byte* bytes = record(*split.files, split.first + index);
  const auto label = std::to_integer<std::int64_t>(*bytes);
  std::memcpy(fields[0].data(), bytes + 1, kPixels);
  std::memcpy(fields[1].data(), &label, sizeof label);
}

}  // namespace trainyard

TRAINYARD_DATASET(trainyard::Cifar10, "cifar10", "Images of CIFAR-10, from the files of its binary version.")
