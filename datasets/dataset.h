#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "messages/dataset_info.h"
#include "messages/error.h"

namespace trainyard {

using DatasetContext = PluginContext;

/// Samples by index, split by split. Knows nothing of batches, shuffling, shards or threads: the data loader does that.
///
/// A dataset has fields (DatasetInfo::fields): every sample has one tensor of fixed dtype and shape for each. It does
/// without LibTorch: it writes plain bytes, straight into the memory that the accelerator host will read.
class Dataset : public Configurable {
 public:
  static constexpr const char* kKind = "dataset";
  using Context = DatasetContext;

  explicit Dataset(DatasetContext& context) : Configurable(context.where, context.parameters), context_(context) {}

  /// Opens files and learns sizes; called once, before anything below. Throws kNotFound, kIo or kCorrupt with the file
  /// and the offset.
  virtual void open() = 0;

  /// Fields, vocabulary, unit and, for each split there is, its name and number of samples (0 batches; the loader fills
  /// those in).
  virtual DatasetInfo info() const = 0;

  /// Writes sample `index` of `split` into one span per field. Called from several threads at once. Throws kCorrupt
  /// with file and offset.
  virtual void read(std::string_view split, std::uint64_t index,
                    std::span<const std::span<std::byte>> fields) const = 0;

 protected:
  const DatasetContext& context() const { return context_; }

  /// For `read`: throws kInvalidArgument if there is no sample `index` among the `samples` of `split`.
  void check_sample(std::string_view split, std::uint64_t index, std::uint64_t samples) const {
    if (index < samples) return;
    throw Error(Code::kInvalidArgument, "{}: there is no sample {} in the split '{}', which has {}", where(), index,
                split, samples);
  }

 private:
  DatasetContext context_;
};

}  // namespace trainyard

/// Registers a dataset; the last line of its .cpp, inside no namespace.
#define TRAINYARD_DATASET(Class, name, description) \
  TRAINYARD_PLUGIN("dataset", ::trainyard::Dataset, ::trainyard::DatasetContext, Class, name, "1", description)
