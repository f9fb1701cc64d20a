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

/// The base class of all datasets. A dataset consists of splits, such as "train" and "validate", and returns the
/// samples of a split by index. The data loader does the rest: it shuffles samples, divides them among the ranks, makes
/// batches, and reads ahead with several threads.
///
/// A sample has one tensor for each field of the dataset (DatasetInfo::fields). All samples have the same fields, and a
/// field has the same dtype and shape in every sample. A dataset does not use LibTorch. It writes plain bytes into
/// memory that the data loader provides.
class Dataset : public Configurable {
 public:
  static constexpr const char* kKind = "dataset";
  using Context = DatasetContext;

  explicit Dataset(DatasetContext& context) : Configurable(context.where, context.parameters), context_(context) {}

  /// Returns facts about the dataset that are known before its files are opened, such as the kind of target. They may
  /// depend on the parameters from the launch file.
  virtual DatasetTraits traits() const { return {}; }
  core::PluginTraits declared_traits() const final;

  /// Opens the files and determines their sizes. Called once, before info() and read(). Throws kNotFound if a file does
  /// not exist, kIo if a file cannot be read, kCorrupt if its content is malformed, and kInvalidArgument if the
  /// parameters do not fit the data. The error names the file and, where possible, the offset of the fault.
  virtual void open() = 0;

  /// Returns a description of the fields, the vocabulary, the unit in which throughput is counted, and the splits. For
  /// each split, an override sets only the name and the number of samples. The data loader adds everything that depends
  /// on its parameters, such as the numbers of batches.
  virtual DatasetInfo info() const = 0;

  /// Writes sample `index` of `split` into `fields`, which has one span for each field, in the order of
  /// DatasetInfo::fields. The size of each span is the size of the field in bytes. The function is called by several
  /// threads concurrently. Throws kCorrupt if the data of the sample is malformed; the error names the file and the
  /// offset.
  virtual void read(std::string_view split, std::uint64_t index,
                    std::span<const std::span<std::byte>> fields) const = 0;

 protected:
  const DatasetContext& context() const { return context_; }

  /// Throws kInvalidArgument unless `index` is below `samples`, the number of samples of `split`. Implementations of
  /// `read` should call it first.
  void check_sample(std::string_view split, std::uint64_t index, std::uint64_t samples) const {
    if (index < samples) return;
    throw Error(Code::kInvalidArgument, "{}: there is no sample {} in the split '{}', which has {}", where(), index,
                split, samples);
  }

 private:
  DatasetContext context_;
};

}  // namespace trainyard

/// Registers the class `Class` as the dataset `name`. `description` is one sentence about the dataset. The macro must
/// be the last line of the dataset's .cpp, outside of any namespace.
#define TRAINYARD_DATASET(Class, name, description) \
  TRAINYARD_PLUGIN("dataset", ::trainyard::Dataset, ::trainyard::DatasetContext, Class, name, "1", description)
