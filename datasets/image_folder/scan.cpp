// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/scan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "messages/error.h"

namespace trainyard::image_folder {
namespace {

namespace fs = std::filesystem;

/// The largest depth of folders. Deeper folders are most likely caused by a link to a folder above.
constexpr int kMostDepth = 32;

bool is_picture(const fs::path& path) {
  constexpr std::array<const char*, 3> kEndings{".jpg", ".jpeg", ".png"};
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return std::ranges::find(kEndings, ending) != kEndings.end();
}

/// The folders and the pictures in a folder, each sorted by name.
struct Listing {
  std::vector<fs::path> folders;
  std::vector<fs::path> pictures;
};

Listing list(const fs::path& folder) {
  Listing listing;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    // The error of a dangling link, which is neither a folder nor a picture, is ignored.
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      listing.folders.push_back(entry->path());
    } else if (is_picture(entry->path()) && entry->is_regular_file(ignored)) {
      listing.pictures.push_back(entry->path());
    }
  }
  if (failure) throw Error(Code::kIo, "cannot list the folder {}: {}", folder.string(), failure.message());
  const auto name = [](const fs::path& path) { return path.native(); };
  std::ranges::sort(listing.folders, {}, name);
  std::ranges::sort(listing.pictures, {}, name);
  return listing;
}

/// A folder, with the pictures in it and in its subfolders.
struct Branch {
  std::string folder;
  std::vector<fs::path> pictures;
};

void collect(const fs::path& folder, int depth, std::vector<Branch>& branches) {
  if (depth > kMostDepth) {
    throw Error(Code::kIo, "{}: folders are nested more than {} deep; does a link lead back?", folder.string(),
                kMostDepth);
  }
  Listing listing = list(folder);
  branches.push_back({folder.string(), std::move(listing.pictures)});
  for (const fs::path& inner : listing.folders) collect(inner, depth + 1, branches);
}

}  // namespace

bool looks_like_a_split(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return false;
  const Listing listing = list(folder);
  return !listing.folders.empty() && listing.pictures.empty();
}

PictureFolder scan_pictures(const std::string& folder) {
  std::error_code problem;
  const bool there = fs::is_directory(folder, problem);
  if (problem && problem != std::errc::no_such_file_or_directory) {
    throw Error(Code::kIo, "{} cannot be read: {}", folder, problem.message());
  }
  if (!there) throw Error(Code::kNotFound, "there is no folder {}", folder);
  PictureFolder found;
  for (const fs::path& path : list(folder).folders) {
    const auto label = static_cast<std::int64_t>(found.classes.size());
    std::vector<Branch> branches;
    collect(path, 0, branches);
    std::ranges::sort(branches, {}, &Branch::folder);
    const std::size_t before = found.files.size();
    for (const Branch& branch : branches) {
      for (const fs::path& picture : branch.pictures) found.files.push_back({picture.string(), label});
    }
    if (found.files.size() == before) {
      throw Error(Code::kNotFound, "there is no picture in {}; looked for .jpg, .jpeg and .png", path.string());
    }
    found.classes.push_back(path.filename().string());
  }
  if (!found.classes.empty()) return found;
  throw Error(Code::kNotFound, "{} has no folders; allowed: one folder for every class, with its pictures", folder);
}

}  // namespace trainyard::image_folder
