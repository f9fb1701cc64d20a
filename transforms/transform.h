// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "core/random/random.h"
#include "messages/dataset_info.h"

namespace trainyard {

using TransformContext = PluginContext;

/// The random numbers of one application of one transform. A transform may draw any number of them; the same key gives
/// the same numbers. The data loader makes the key from the seed of the run, the split, the epoch, the sample and the
/// transform's place in the list, and from nothing else. Workers, prefetching and placement therefore do not change the
/// content of a batch.
class TransformRandom {
 public:
  explicit TransformRandom(std::uint64_t key) : key_(key) {}

  /// Draws from 0 to bound - 1, each number as likely as any other. `bound` is above 0.
  std::uint64_t below(std::uint64_t bound) { return random_below(random_bits(draws_++, key_), bound); }

  /// Draws uniformly from the open interval (0, 1).
  double unit() { return random_unit(random_bits(draws_++, key_)); }

 private:
  std::uint64_t key_;
  std::uint64_t draws_ = 0;
};

/// Changes one field of every sample before it becomes part of a batch: a transform may normalise, crop or flip.
///
/// Like a dataset, a transform does not use LibTorch, works on plain bytes and is called from several threads at once.
/// Images are [channels, height, width] or [height, width]; transforms/image.h helps with them.
///
/// Parameters  field   "input": the field that is changed. Every transform has this parameter.
class Transform : public Configurable {
 public:
  static constexpr const char* kKind = "transform";
  using Context = TransformContext;

  explicit Transform(TransformContext& context) : Configurable(context.where, context.parameters) {}

  /// Prepares for the field `input`, and returns the field that `apply` will produce: a dtype and a shape, with the
  /// same name. Called once, before `apply`. Throws kShapeMismatch or kInvalidArgument, saying what was given and what
  /// is allowed.
  virtual DatasetField prepare(const DatasetField& input) = 0;

  /// Computes `output` from `input`. The two do not overlap, and their sizes are those of the fields that `prepare` was
  /// given and returned. `random` is null if nothing may be random, as in evaluation; a random transform then treats
  /// all samples in the same way, and its output has the same shape. Since this runs for every sample, it must not
  /// allocate memory.
  virtual void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const = 0;

  const std::string& field() const { return *field_; }

 private:
  Parameter<std::string> field_{*this, "field", "input", "the field of a sample that is changed"};
};

}  // namespace trainyard

/// Registers a transform. It is the last line of the transform's .cpp, outside of any namespace.
#define TRAINYARD_TRANSFORM(Class, name, description) \
  TRAINYARD_PLUGIN("transform", ::trainyard::Transform, ::trainyard::TransformContext, Class, name, "1", description)
