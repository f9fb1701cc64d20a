// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "core/traits/sample_traits.h"
#include "messages/dataset_info.h"
#include "messages/error.h"

namespace trainyard {

using DatasetContext = PluginContext;

/// A dataset delivers the samples of its splits by their index. The data loader handles batches, shuffling, shards and
/// threads.
///
/// A dataset has fields (DatasetInfo::fields), and every sample has one tensor of fixed dtype and shape for each field.
/// A dataset does not use LibTorch: it writes plain bytes, directly into the memory that the accelerator host will
/// read.
class Dataset : public Configurable {
 public:
  static constexpr const char* kKind = "dataset";
  using Context = DatasetContext;

  explicit Dataset(DatasetContext& context) : Configurable(context.where, context.parameters), context_(context) {}

  /// Returns what is known about the samples before the data is opened. It may depend on the parameters.
  virtual DatasetTraits traits() const { return {}; }
  core::PluginTraits declared_traits() const final;

  /// Opens the files and determines their sizes. Called once, before every other function. Throws kNotFound, kIo or
  /// kCorrupt, naming the file and the offset.
  virtual void open() = 0;

  /// Describes the fields, the vocabulary, the unit and the splits. For each split it gives the name and the number of
  /// samples; the number of batches stays 0, because the data loader sets it.
  virtual DatasetInfo info() const = 0;

  /// Writes sample `index` of `split` into one span per field. Called from several threads at once. Throws kCorrupt,
  /// naming the file and the offset.
  virtual void read(std::string_view split, std::uint64_t index,
                    std::span<const std::span<std::byte>> fields) const = 0;

 protected:
  const DatasetContext& context() const { return context_; }

  /// Throws kInvalidArgument unless `index` is below `samples`, the number of samples of `split`. Meant for use in
  /// `read`.
  void check_sample(std::string_view split, std::uint64_t index, std::uint64_t samples) const {
    if (index < samples) return;
    throw Error(Code::kInvalidArgument, "{}: there is no sample {} in the split '{}', which has {}", where(), index,
                split, samples);
  }

 private:
  DatasetContext context_;
};

}  // namespace trainyard

/// Registers a dataset. It is the last line of the dataset's .cpp, outside of any namespace.
#define TRAINYARD_DATASET(Class, name, description) \
  TRAINYARD_PLUGIN("dataset", ::trainyard::Dataset, ::trainyard::DatasetContext, Class, name, "1", description)
