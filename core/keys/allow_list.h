// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/keys/key.h"

namespace trainyard::core {

/// A list of public keys that are admitted, each with the name and the role of its owner.
class AllowList {
 public:
  /// Adds a key to the list. Throws kInvalidArgument if the list already contains it, because one key must not have two
  /// roles.
  void add(PublicKey key);

  /// Returns the entry of a key that is given as 40 characters in Z85 encoding; null if the list does not contain it.
  const PublicKey* find(std::string_view text) const;
  /// Returns the entry of a key that is given as 32 bytes, as libzmq gives it when it asks whether to admit a client
  /// (ZAP); null if the list does not contain it.
  const PublicKey* find_bytes(std::string_view bytes) const;

  std::size_t size() const { return by_bytes_.size(); }
  bool empty() const { return by_bytes_.empty(); }

  /// Reads a list from a text with one line for each key (PublicKey::line()). Empty lines and lines that begin with '#'
  /// are skipped. Throws kInvalidArgument for a line that is not a key or that repeats a key. The error contains
  /// `source`, which names the text, and the number of the line.
  static AllowList read(std::string_view text, const std::string& source);

 private:
  std::map<std::string, PublicKey, std::less<>> by_bytes_;
};

}  // namespace trainyard::core
