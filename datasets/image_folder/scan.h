#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

struct PictureFile {
  std::string path;
  std::int64_t label = 0;
};

/// The picture files below the class folders of `folder`, class by class, in the order in which torchvision's
/// ImageFolder numbers them: sorted by folder, then by name, bytewise. Class folders may have folders of their own. A
/// file counts by the ending of its name: .jpg, .jpeg, .png, in any case. Links are followed.
struct PictureFolder {
  std::vector<std::string> classes;  ///< Names of the class folders, sorted: class i is number i.
  std::vector<PictureFile> files;
};

/// Throws kNotFound for a folder that is not there, has no class folders, or has a class without a picture; kIo.
PictureFolder scan_pictures(const std::string& folder);

}  // namespace trainyard
