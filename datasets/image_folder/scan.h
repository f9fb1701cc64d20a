// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainyard::image_folder {

/// A picture file and the number of its class.
struct PictureFile {
  std::string path;
  std::int64_t label = 0;
};

/// The picture files in the class folders of a folder. They are sorted by class, then bytewise by folder, then by name,
/// which is the order of torchvision's ImageFolder. Pictures in subfolders of a class folder belong to the class. A
/// file is a picture if its name ends in .jpg, .jpeg or .png, in lower or upper case. Links are followed.
struct PictureFolder {
  /// The names of the class folders, sorted. The index of a name is the number of its class.
  std::vector<std::string> classes;
  std::vector<PictureFile> files;
};

/// Lists the pictures in the class folders of `folder`. Throws kNotFound if the folder does not exist, contains no
/// class folder, or contains a class folder without a picture. Throws kIo if a folder cannot be read.
PictureFolder scan_pictures(const std::string& folder);

/// Returns true if `folder` contains folders but no pictures, as the folder of a split does. Returns false if `folder`
/// does not exist.
bool looks_like_a_split(const std::string& folder);

}  // namespace trainyard::image_folder
