// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/sample_reader.h"

#include <string>
#include <utility>

#include "core/random/random.h"
#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/tensor.h"

namespace trainyard {
namespace {

std::size_t bytes_of(const DatasetField& field) { return checked_bytes(static_cast<DType>(field.dtype), field.shape); }

/// Inputs of transforms are aligned to this number of bytes in the scratch memory, so that two of them never share a
/// cache line.
constexpr std::size_t kAlignment = 64;

}  // namespace

SampleReader::SampleReader(const Dataset& dataset, std::uint64_t seed)
    : dataset_(dataset), key_(random_key(seed, "transforms")), fields_(dataset.info().fields), first_(fields_.size()) {}

std::size_t SampleReader::field_named(const Transform& transform) const {
  std::vector<std::string> known;
  for (const DatasetField& field : fields_) {
    if (field.name == transform.field()) return known.size();
    known.push_back(field.name);
  }
  throw Error(Code::kInvalidArgument, "{}: the dataset has no field '{}'{}", transform.where(), transform.field(),
              suggestion(transform.field(), known));
}

void SampleReader::add(std::unique_ptr<Transform> transform) {
  const std::size_t number = steps_.size();
  const std::size_t field = field_named(*transform);
  Step step{std::move(transform), field, scratch_bytes_, bytes_of(fields_[field])};
  fields_[field] = step.transform->prepare(fields_[field]);
  scratch_bytes_ += (step.input_bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (!first_[field]) first_[field] = number;
  for (Step& earlier : steps_) {
    if (earlier.field == field && !earlier.next) earlier.next = number;
  }
  steps_.push_back(std::move(step));
}

void SampleReader::read(const SampleChoice& which, std::span<const std::span<std::byte>> fields,
                        Scratch& scratch) const {
  if (steps_.empty()) return dataset_.read(which.split, which.index, fields);
  scratch.bytes.resize(scratch_bytes_);
  scratch.fields.assign(fields.begin(), fields.end());
  for (std::size_t field = 0; field < first_.size(); ++field) {
    if (first_[field]) scratch.fields[field] = input_of(steps_[*first_[field]], scratch);
  }
  dataset_.read(which.split, which.index, scratch.fields);
  const std::uint64_t split_key = random_key(key_, which.split);
  const std::uint64_t sample_key = random_bits(which.index, random_bits(which.epoch, split_key));
  for (std::size_t number = 0; number < steps_.size(); ++number) {
    const Step& step = steps_[number];
    TransformRandom random(random_bits(number, sample_key));
    step.transform->apply(input_of(step, scratch),
                          step.next ? input_of(steps_[*step.next], scratch) : fields[step.field],
                          which.random ? &random : nullptr);
  }
}

}  // namespace trainyard
