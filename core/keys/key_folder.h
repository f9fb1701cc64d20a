// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/keys/key.h"

namespace trainyard::core {

/// Returns the folder with the keys of this user: `trainyard/keys` in the folder that XDG_CONFIG_HOME names, or in
/// `.config` of the home directory. Throws kNotFound if neither XDG_CONFIG_HOME nor HOME is set.
std::string default_key_folder();

/// The folder in which a user keeps keys. `NAME.key` is a key of the user's own, with its secret part. `NAME.pub` is
/// the public key of somebody else, in one line.
///
/// Every function throws kInvalidArgument if others may read or write the folder, if it is not a folder or if it
/// belongs to another user.
class KeyFolder {
 public:
  explicit KeyFolder(std::string path = default_key_folder()) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// Returns the path of the file with the user's own key `name`.
  std::string own_path(const std::string& name) const { return path_ + "/" + name + ".key"; }
  /// Returns the path of the file with somebody else's public key `name`.
  std::string public_path(const std::string& name) const { return path_ + "/" + name + ".pub"; }

  /// Writes a key of the user's own, after making the folder with mode 0700 if necessary. Returns the path of the file.
  /// Throws kInvalidArgument if the folder already contains a key with this name, of the user or of somebody else.
  std::string add(const Key& key) const;
  /// Writes somebody else's public key, in the same way.
  std::string add(const PublicKey& key) const;

  /// Returns the user's own key `name`. Throws kNotFound, which suggests the nearest name, if there is none, and
  /// otherwise the errors of read_key_file().
  Key own(const std::string& name) const;
  /// Returns the public part of the key `name`, whether it is the user's own or somebody else's. Throws kNotFound,
  /// which suggests the nearest name, if there is none.
  PublicKey find(const std::string& name) const;

  /// Return the names of the user's own keys, and of the keys of others, in alphabetical order.
  std::vector<std::string> own_names() const;
  std::vector<std::string> public_names() const;

 private:
  // Throws unless this user alone may use the folder. Returns false if it does not exist.
  bool check() const;
  void make() const;
  void check_is_new(const std::string& name) const;
  std::vector<std::string> names(const char* extension) const;

  std::string path_;
};

}  // namespace trainyard::core
