// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/keys/key.h"

namespace trainyard::core {

/// The keys that are admitted somewhere, each with the name and the role of its owner.
class AllowList {
 public:
  /// Admits a key. Throws kInvalidArgument if it is admitted already, because one key must not have two roles.
  void add(PublicKey key);

  /// Returns the entry of a key that is given as 40 characters of Z85, or null if the key is not admitted.
  const PublicKey* find(std::string_view text) const;
  /// Returns the entry of a key that is given as 32 bytes, as libzmq gives it (ZAP), or null if it is not admitted.
  const PublicKey* find_bytes(std::string_view bytes) const;

  std::size_t size() const { return by_bytes_.size(); }
  bool empty() const { return by_bytes_.empty(); }

  /// Reads a text with one line for each key (PublicKey::line()). Empty lines and lines that begin with '#' are
  /// skipped. Throws kInvalidArgument with the number of the line; `source` names the text in the error.
  static AllowList read(std::string_view text, const std::string& source);

 private:
  std::map<std::string, PublicKey, std::less<>> by_bytes_;
};

}  // namespace trainyard::core
