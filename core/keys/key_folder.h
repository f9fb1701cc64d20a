// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/keys/key.h"

namespace trainyard::core {

/// Returns the folder with the keys of this user: `trainyard/keys` in the folder that XDG_CONFIG_HOME names or, if that
/// is not set, in `.config` of the home directory. Throws kNotFound if neither XDG_CONFIG_HOME nor HOME is set.
std::string default_key_folder();

/// The folder in which a user keeps keys. `NAME.key` contains one of the user's own keys, with its secret part.
/// `NAME.pub` contains somebody else's public key, in one line.
///
/// Every function that accesses the folder throws kInvalidArgument if others may read or write it, if it is not a
/// folder, or if it belongs to another user.
class KeyFolder {
 public:
  explicit KeyFolder(std::string path = default_key_folder()) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// Returns the path of the file with the user's own key `name`.
  std::string own_path(const std::string& name) const { return path_ + "/" + name + ".key"; }
  /// Returns the path of the file with somebody else's public key `name`.
  std::string public_path(const std::string& name) const { return path_ + "/" + name + ".pub"; }

  /// Stores one of the user's own keys in a new file, and returns the path of this file. Makes the folder, with mode
  /// 0700, if it does not exist. Throws kInvalidArgument if the folder already contains a key with this name, the
  /// user's own or somebody else's, and kIo if the file cannot be written.
  std::string add(const Key& key) const;
  /// Stores somebody else's public key in a new file. The return value and the errors are those of the function above.
  std::string add(const PublicKey& key) const;

  /// Returns the user's own key `name`. Throws kNotFound if there is none, suggesting the nearest name. Passes on the
  /// errors of read_key_file().
  Key own(const std::string& name) const;
  /// Returns the public part of the key `name`, the user's own or somebody else's. Throws kNotFound if there is none,
  /// suggesting the nearest name, and kCorrupt if its file is malformed.
  PublicKey find(const std::string& name) const;

  /// These functions return the names of the user's own keys and of other people's keys, in alphabetical order. The
  /// list is empty if the folder does not exist.
  std::vector<std::string> own_names() const;
  std::vector<std::string> public_names() const;

 private:
  // Returns true if the folder exists. Throws kInvalidArgument if it exists but other users may use it.
  bool check() const;
  void make() const;
  void check_is_new(const std::string& name) const;
  std::vector<std::string> names(const char* extension) const;

  std::string path_;
};

}  // namespace trainyard::core
