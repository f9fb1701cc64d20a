#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "datasets/random.h"
#include "messages/dataset_info.h"

namespace trainyard {

using TransformContext = PluginContext;

/// The chance in one application of one transform: as many draws as it wants, the same ones for the same key. The data
/// loader makes the key of run seed, split, epoch, sample and the transform's place in the list, and of nothing else,
/// so that workers, prefetch and placement change no bit of a batch.
class TransformRandom {
 public:
  explicit TransformRandom(std::uint64_t key) : key_(key) {}

  /// Uniform over 0 ... bound - 1; `bound` > 0.
  std::uint64_t below(std::uint64_t bound) { return random_below(random_bits(draws_++, key_), bound); }

  /// Uniform over (0, 1).
  double unit() { return random_unit(random_bits(draws_++, key_)); }

 private:
  std::uint64_t key_;
  std::uint64_t draws_ = 0;
};

/// Changes one field of every sample, between the dataset and the batch: normalises, crops, flips.
///
/// Like a dataset it does without LibTorch, works on plain bytes and is called from several threads at once. Images are
/// [channels, height, width] or [height, width]; transforms/image.h helps with them.
///
/// Parameters  field   "input": the field that is changed; every transform has it
class Transform : public Configurable {
 public:
  static constexpr const char* kKind = "transform";
  using Context = TransformContext;

  explicit Transform(TransformContext& context) : Configurable(context.where, context.parameters) {}

  /// Learns what it will be given, and answers what it will make of that: dtype and shape; the name stays. Called once,
  /// before `apply`. Throws kShapeMismatch or kInvalidArgument with what is given and what is allowed.
  virtual DatasetField prepare(const DatasetField& input) = 0;

  /// Makes `output` of `input`, which do not overlap and have the bytes that `prepare` was told and has answered.
  /// `random` is null where chance has no place, as in evaluation: a random transform then does the same to every
  /// sample, and the shape is the same as ever. Allocates nothing: it runs for every sample.
  virtual void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom* random) const = 0;

  const std::string& field() const { return *field_; }

 private:
  Parameter<std::string> field_{*this, "field", "input", "the field of a sample that is changed"};
};

}  // namespace trainyard

/// Registers a transform; the last line of its .cpp, inside no namespace.
#define TRAINYARD_TRANSFORM(Class, name, description) \
  TRAINYARD_PLUGIN("transform", ::trainyard::Transform, ::trainyard::TransformContext, Class, name, "1", description)
