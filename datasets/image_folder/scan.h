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

/// The picture files below the class folders of a folder, class by class, in the order in which torchvision's
/// ImageFolder numbers them: sorted bytewise by folder, then by name. Class folders may contain further folders. A file
/// is a picture if its name ends in .jpg, .jpeg or .png, in lower or upper case. Links are followed.
struct PictureFolder {
  std::vector<std::string> classes;  ///< The names of the class folders, sorted: class i has the number i.
  std::vector<PictureFile> files;
};

/// Lists the pictures of a folder. Throws kNotFound for a folder that does not exist, that has no class folders, or
/// that has a class without a picture. Throws kIo for a folder that cannot be read.
PictureFolder scan_pictures(const std::string& folder);

/// Returns true for a folder that contains folders but no pictures, as the folder of a split does. Returns false for a
/// folder that does not exist.
bool looks_like_a_split(const std::string& folder);

}  // namespace trainyard::image_folder
