// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/mapped_file.h"

namespace trainyard {

/// The CIFAR-10 dataset in its binary version. The files consist of records of 3073 bytes: a label, and the red, green
/// and blue values of 32 x 32 pixels.
///
/// The folder contains the files `data_batch_1.bin` to `data_batch_5.bin`, or another number of them (see `files`).
/// Their first `train_count` samples are the split "train", and the others are the split "validate". The file
/// `test_batch.bin`, if it exists, is the split "test". A file can have any number of records. The files are mapped
/// into memory, so all processes on one machine share one copy.
///
/// Parameters  folder       required: the folder with the files
///             files        5: the number of files; data_batch_1.bin to data_batch_<files>.bin must exist
///             train_count  0: number of samples in the split "train"; 0 = all, so that there is no split "validate"
/// Fields      input        uint8 [3, 32, 32]; models scale bytes to the range from 0 to 1
///             target       int64 []
/// Errors      kNotFound, kIo; kCorrupt (with file and offset: a file that is cut off, a label that is not 0 to 9);
///             kInvalidArgument (a train_count greater than the number of samples)
class Cifar10 final : public Dataset {
 public:
  explicit Cifar10(DatasetContext& context) : Dataset(context) {}

  DatasetTraits traits() const override { return {TargetKind::kClass}; }
  void open() override;
  DatasetInfo info() const override;
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  /// The records [first, first + samples) of a list of files. The numbering of the records continues from one file to
  /// the next.
  struct Split {
    std::string name;
    const std::vector<MappedFile>* files = nullptr;
    std::uint64_t first = 0;
    std::uint64_t samples = 0;
  };

  void divide();
  const Split& split_named(std::string_view name) const;

  Parameter<std::string> folder_{*this, "folder", kRequired, "folder with data_batch_1.bin and the other files"};
  Parameter<std::int64_t> file_count_{*this, "files", 5, "data_batch_1.bin to data_batch_<files>.bin are read",
                                      between(1, 1000)};
  Parameter<std::int64_t> train_count_{*this, "train_count", 0,
                                       "samples for training, from the start; the rest is for validation; 0 = all",
                                       at_least(0)};

  std::vector<MappedFile> batches_;
  std::vector<MappedFile> test_;
  std::vector<Split> splits_;
};

}  // namespace trainyard
