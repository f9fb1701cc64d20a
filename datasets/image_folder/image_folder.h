// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/image_folder/picture_reader.h"
#include "datasets/image_folder/scan.h"
#include "datasets/partition.h"

namespace trainyard {

/// A dataset of pictures in folders, with one folder for every class. The PNG and JPEG files are decoded in the threads
/// of the data loader, each time a sample is read. Samples and classes have the same numbers as in torchvision's
/// ImageFolder.
///
/// If `folder` contains a folder `train`, then each split has its own folder: `train`, `val` (or `validate`) and
/// `test`, all with the same classes. Otherwise `folder` contains the class folders. The pictures of the split
/// "validate" are then drawn at random, with the seed `split_seed`; with `split = "tail"` they are the last pictures of
/// the whole list. The list is sorted by class, so these pictures belong to the last classes only. If `folder` contains
/// the folder of another split but no `train`, open() throws an error.
///
/// Every picture becomes `size` x `size` pixels of red, green and blue. Grey pictures are converted to these three
/// colours; transparency and an Exif orientation are ignored, as in torchvision. Pictures are scaled with the same
/// filter as Pillow's BILINEAR.
///
/// Parameters  folder             required: the folder with the pictures
///             size               224
///             fit                stretch (use the whole picture) | crop (use the largest square in its middle)
///             validate_fraction  0.1; only for a folder without `train`; 0 = no split "validate"
///             split              random | tail
///             split_seed         0
///             max_pixels         67108864; larger pictures are refused
/// Fields      input              uint8 [3, size, size]
///             target             int64 []
/// Errors      kNotFound, kIo; kShapeMismatch (splits with different classes); kInvalidArgument (nothing to train on);
///             when a sample is read, kCorrupt (file, offset, the library's message), or kUnsupported (colours that the
///             decoder does not know)
class ImageFolder final : public Dataset {
 public:
  explicit ImageFolder(DatasetContext& context) : Dataset(context) {}

  DatasetTraits traits() const override { return {TargetKind::kClass}; }
  void open() override;
  DatasetInfo info() const override;
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  struct Split {
    std::string name;
    std::vector<image_folder::PictureFile> files;
  };

  void open_splits();
  void refuse_missing_train() const;
  void open_whole();
  void add_split(const std::string& name, const std::string& folder);
  const Split& split_named(std::string_view name) const;
  std::unique_ptr<image_folder::PictureReader> take_reader() const;

  Parameter<std::string> folder_{*this, "folder", kRequired, "folder of class folders, or of train, val and test"};
  Parameter<std::int64_t> size_{*this, "size", 224, "rows and columns to which every picture is scaled",
                                between(1, 8192)};
  Parameter<std::string> fit_{*this, "fit", "stretch", "use the whole picture, or the largest square in its middle",
                              one_of({"stretch", "crop"})};
  Parameter<double> validate_fraction_{*this, "validate_fraction", 0.1,
                                       "share of the pictures for validation in a folder without train",
                                       between(0, 0.99)};
  Parameter<Division> split_{*this, "split", Division::kRandom, "pictures for validation: random ones, or the last"};
  Parameter<std::int64_t> split_seed_{*this, "split_seed", 0,
                                      "seed of the random draw, independent of the seed of the run", at_least(0)};
  Parameter<std::int64_t> max_pixels_{*this, "max_pixels", 1 << 26, "larger pictures are refused",
                                      positive() | in_unit("pixels")};

  std::vector<std::string> classes_;
  std::vector<Split> splits_;

  mutable std::mutex mutex_;  ///< Guards idle_.
  /// Readers that no thread is using. A thread that reads a sample takes a reader from this list, or makes a new one if
  /// the list is empty, and puts it into the list afterwards.
  mutable std::vector<std::unique_ptr<image_folder::PictureReader>> idle_;
};

}  // namespace trainyard
