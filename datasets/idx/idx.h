// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/idx/idx_file.h"

namespace trainyard {

/// A dataset of labelled images from IDX files, the format of MNIST, Fashion-MNIST and EMNIST. The files can be
/// compressed with gzip.
///
/// The launch file gives either two files (`images` and `labels`) or a `folder` in which the files have MNIST's names.
/// The images are in `train-images-idx3-ubyte` and `t10k-images-idx3-ubyte`, the labels in `train-labels-idx1-ubyte`
/// and `t10k-labels-idx1-ubyte`. Each name can end in `.gz`. If the folder contains both sets, the t10k files are the
/// split "test"; if it contains only the t10k files, they are used like the train files. The first `train_count`
/// samples of the train files are the split "train", and the others are the split "validate".
///
/// Pixels are normalised with `mean` and `std`. The defaults are the mean and the standard deviation of MNIST's pixels.
/// With `mean = 0` and `std = 1`, pixels are in the range from 0 to 1.
///
/// Parameters  images, labels  two files; or
///             folder          a folder with files that have MNIST's names
///             train_count     0: number of samples in the split "train"; 0 = all, so that there is no split "validate"
///             mean, std       0.1307, 0.3081: the values for MNIST's pixels, scaled to [0, 1]
///             flatten         false
/// Fields      input           float32 [1, rows, columns], or [rows * columns] if flattened: (pixel / 255 - mean) / std
///             target          int64 []
/// Errors      kNotFound, kIo; kCorrupt (file and offset); kInvalidArgument (parameters that do not go together);
///             kShapeMismatch (files that do not go together); kUnsupported (elements that are not bytes)
class Idx final : public Dataset {
 public:
  /// Reads the parameters only; open() reads the files.
  explicit Idx(DatasetContext& context) : Dataset(context) {}

  DatasetTraits traits() const override { return {TargetKind::kClass}; }
  /// Reads all files into memory, which can take about a second.
  void open() override;
  DatasetInfo info() const override;
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  struct Files {
    idx::File images;
    idx::File labels;
  };
  struct Split {
    std::string name;
    const Files* files = nullptr;
    std::uint64_t first = 0;
    std::uint64_t samples = 0;
  };

  void open_folder();
  Files read_files(const std::string& images, const std::string& labels) const;
  void divide();
  void make_pixel_table();
  std::vector<std::int64_t> input_shape() const;
  const Split& split_named(std::string_view name) const;

  Parameter<std::string> images_{*this, "images", "", "IDX file of images"};
  Parameter<std::string> labels_{*this, "labels", "", "IDX file of labels"};
  Parameter<std::string> folder_{*this, "folder", "", "folder with MNIST's file names, instead of two files"};
  Parameter<std::int64_t> train_count_{*this, "train_count", 0,
                                       "samples for training, from the start; the rest is for validation; 0 = all",
                                       at_least(0)};
  Parameter<double> mean_{*this, "mean", 0.1307, "mean to subtract from the pixels, which are scaled to [0, 1]"};
  Parameter<double> std_{*this, "std", 0.3081, "standard deviation to divide the pixels by, after the mean",
                         positive()};
  Parameter<bool> flatten_{*this, "flatten", false, "flatten each sample into a vector"};

  Files main_;
  std::optional<Files> test_;
  std::vector<Split> splits_;
  std::array<float, 256> pixel_{};  ///< The normalised value of each possible byte.
};

}  // namespace trainyard
