// SPDX-License-Identifier: Apache-2.0
#include "core/keys/key_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/files/regular_file.h"
#include "core/keys/key_file.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::core {
namespace {

constexpr const char* kOwn = ".key";
constexpr const char* kPublic = ".pub";
constexpr std::streamsize kLongestLine = 256;

PublicKey read_public_file(const std::string& path) {
  require_regular_file(path);
  std::ifstream file(path);
  std::string line(kLongestLine, '\0');
  file.read(line.data(), kLongestLine);
  line.resize(static_cast<std::size_t>(file.gcount()));
  try {
    return PublicKey::read(line.substr(0, line.find('\n')));
  } catch (const Error& error) {
    throw Error(Code::kCorrupt, path + ": " + error.what());
  }
}

}  // namespace

std::string default_key_folder() {
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config != '\0') {
    return std::string(config) + "/trainyard/keys";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::string(home) + "/.config/trainyard/keys";
  }
  throw Error(Code::kNotFound, std::string("no folder for keys: neither XDG_CONFIG_HOME nor HOME is set"));
}

bool KeyFolder::check() const {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    throw Error(Code::kIo, "{}: {}", path_, std::strerror(errno));
  }
  if (!S_ISDIR(status.st_mode)) throw Error(Code::kInvalidArgument, "{}: is not a folder", path_);
  if (status.st_uid != ::geteuid()) {
    throw Error(Code::kInvalidArgument, "{}: belongs to user {}, not to user {}", path_, status.st_uid, ::geteuid());
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw Error(Code::kInvalidArgument, "{}: others may use this folder of keys (mode {:o}); use `chmod 700`", path_,
                status.st_mode & 07777U);
  }
  return true;
}

void KeyFolder::make() const {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    throw Error(Code::kIo, "cannot make the folder {}: {}", path_, std::strerror(errno));
  }
  check();
}

void KeyFolder::check_is_new(const std::string& name) const {
  for (const std::string& path : {own_path(name), public_path(name)}) {
    if (is_there(path)) {
      throw Error(Code::kInvalidArgument, "there is a key '{}' already ({}); choose another name or delete the file",
                  name, path);
    }
  }
}

std::string KeyFolder::add(const Key& key) const {
  make();
  check_is_new(key.name);
  write_key_file(own_path(key.name), key);
  return own_path(key.name);
}

std::string KeyFolder::add(const PublicKey& key) const {
  make();
  check_is_new(key.name);
  const std::string path = public_path(key.name);
  std::ofstream file(path);
  file << key.line() << '\n';
  file.close();
  if (!file) throw Error(Code::kIo, "cannot write {}", path);
  return path;
}

Key KeyFolder::own(const std::string& name) const {
  const std::vector<std::string> known = own_names();
  if (std::ranges::find(known, name) != known.end()) return read_key_file(own_path(name));
  throw Error(Code::kNotFound, "no key of your own named '{}' in {}{}", name, path_, suggestion(name, known));
}

PublicKey KeyFolder::find(const std::string& name) const {
  const std::vector<std::string> own_keys = own_names();
  if (std::ranges::find(own_keys, name) != own_keys.end()) return read_key_file(own_path(name));
  std::vector<std::string> known = public_names();
  if (std::ranges::find(known, name) != known.end()) return read_public_file(public_path(name));
  known.insert(known.end(), own_keys.begin(), own_keys.end());
  throw Error(Code::kNotFound, "no key named '{}' in {}{}", name, path_, suggestion(name, known));
}

std::vector<std::string> KeyFolder::own_names() const { return names(kOwn); }

std::vector<std::string> KeyFolder::public_names() const { return names(kPublic); }

std::vector<std::string> KeyFolder::names(const char* extension) const {
  std::vector<std::string> found;
  if (!check()) return found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
    if (entry.path().extension() == extension) found.push_back(entry.path().stem());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace trainyard::core
