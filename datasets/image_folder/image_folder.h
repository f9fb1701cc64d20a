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

namespace trainyard {

/// Pictures in folders, one folder for every class: PNG and JPEG files, decoded when they are read, in the threads of
/// the data loader. The files and classes are those of torchvision's ImageFolder, with the same numbers.
///
/// A folder with a folder `train` in it has its splits in folders: `train`, `val` or `validate`, `test`, with the same
/// classes each. Else it is itself the folder of classes, and the pictures that validate are drawn, with a seed of
/// their own, or are the last ones with `split = "tail"`.
///
/// Every picture comes as `size` x `size` pixels of red, green and blue: grey ones become coloured, transparency is
/// left out, and so is a file's wish to be turned (Exif), as in torchvision. Pictures shrink as with Pillow's BILINEAR.
///
/// Parameters  folder             required
///             size               224
///             fit                stretch | crop: the whole picture, or the largest square of its middle
///             validate_fraction  0.1; of a folder without `train`; 0 = all pictures train
///             split              random | tail
///             split_seed         0
///             max_pixels         67108864: pictures that claim more are refused
/// Fields      input              uint8 [3, size, size]
///             target             int64 []
/// Errors      kNotFound, kIo; kCorrupt, when it is read (file, offset and what the library says); kUnsupported
class ImageFolder final : public Dataset {
 public:
  explicit ImageFolder(DatasetContext& context) : Dataset(context) {}

  void open() override;
  DatasetInfo info() const override;
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  struct Split {
    std::string name;
    std::vector<PictureFile> files;
  };

  void open_splits();
  void open_whole();
  void add_split(const std::string& name, const std::string& folder);
  const Split& split_named(std::string_view name) const;
  std::unique_ptr<PictureReader> take_reader() const;

  Parameter<std::string> folder_{*this, "folder", kRequired, "folder of class folders, or of train, val and test"};
  Parameter<std::int64_t> size_{*this, "size", 224, "rows and columns that every picture is brought to",
                                between(1, 8192)};
  Parameter<std::string> fit_{*this, "fit", "stretch", "the whole picture, or the largest square of its middle",
                              one_of({"stretch", "crop"})};
  Parameter<double> validate_fraction_{*this, "validate_fraction", 0.1,
                                       "share that validates, of a folder without train", between(0, 0.99)};
  Parameter<std::string> split_{*this, "split", "random", "which pictures validate: drawn ones, or the last",
                                one_of({"random", "tail"})};
  Parameter<std::int64_t> split_seed_{*this, "split_seed", 0, "of the draw; not the run's seed", at_least(0)};
  Parameter<std::int64_t> max_pixels_{*this, "max_pixels", 1 << 26, "pictures that claim more are refused",
                                      positive() | in_unit("pixels")};

  std::vector<std::string> classes_;
  std::vector<Split> splits_;

  /// Readers that no thread uses. There are never more than threads have read at once.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<PictureReader>> idle_;
};

}  // namespace trainyard
