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

/// The random numbers that one transform uses for one sample. A transform may draw as many numbers as it needs. The
/// same key always gives the same sequence of numbers. The data loader computes the key from the seed of the run, the
/// split, the epoch, the sample and the transform's index in the list of transforms, and from nothing else. The content
/// of a batch therefore does not depend on which thread reads it, or when.
class TransformRandom {
 public:
  explicit TransformRandom(std::uint64_t key) : key_(key) {}

  /// Returns a uniformly distributed random integer from 0 to bound - 1. `bound` must be greater than 0.
  std::uint64_t below(std::uint64_t bound) { return random_below(random_bits(draws_++, key_), bound); }

  /// Returns a random number, uniformly distributed in the open interval (0, 1).
  double unit() { return random_unit(random_bits(draws_++, key_)); }

 private:
  std::uint64_t key_;
  std::uint64_t draws_ = 0;
};

/// The base class of all transforms. A transform changes one field of every sample before the sample becomes part of a
/// batch, for example by normalising, cropping or flipping it.
///
/// A transform does not use LibTorch. It works on plain bytes, and several threads call it concurrently. Images have
/// the shape [channels, height, width] or [height, width]; transforms/image.h contains functions for images.
///
/// Every transform has the parameter `field`, the name of the field that is changed. The default is "input".
class Transform : public Configurable {
 public:
  static constexpr const char* kKind = "transform";
  using Context = TransformContext;

  explicit Transform(TransformContext& context) : Configurable(context.where, context.parameters) {}

  /// Prepares the transform for the field `input`, and returns a description of the field that `apply` produces. The
  /// dtype and shape of this field may differ from those of `input`, but its name must be the same. Called once, before
  /// `apply`. Throws kShapeMismatch or kInvalidArgument if the transform cannot process the field; the error states
  /// what was given and what is allowed.
  virtual DatasetField prepare(const DatasetField& input) = 0;

  /// Computes `output` from `input`. The two spans do not overlap. `input` has the size of the field that was passed to
  /// `prepare`, and `output` has the size of the field that `prepare` returned. `random` is null if nothing may be
  /// drawn at random. By default, this is so in evaluations and predictions; the parameter `random_splits` of the data
  /// loader changes it. If `random` is null, a random transform must do the same to every sample, for example crop the
  /// centre, and produce output of the same shape as in training. This function is called for every sample, so it must
  /// not allocate memory.
  virtual void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const = 0;

  /// Returns the name of the field that is changed.
  const std::string& field() const { return *field_; }

 private:
  Parameter<std::string> field_{*this, "field", "input", "the field of the sample to change"};
};

}  // namespace trainyard

/// Registers the class `Class` as the transform `name`. `description` is one sentence about the transform. The macro
/// must be the last line of the transform's .cpp, outside of any namespace.
#define TRAINYARD_TRANSFORM(Class, name, description) \
  TRAINYARD_PLUGIN("transform", ::trainyard::Transform, ::trainyard::TransformContext, Class, name, "1", description)
