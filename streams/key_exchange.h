// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "streams/secret.h"

struct evp_pkey_st;

namespace trainyard::streams {

/// One side of a key exchange (X25519, RFC 7748). Each side sends its share, which is a public key, to the other.
/// Afterwards, both sides have a common secret that nobody else can compute, not even somebody who has read both
/// shares. The shares must be sent over a channel on which nobody else can change them. Every object has a new key, so
/// earlier secrets remain safe even if a later one becomes known.
class KeyExchange {
 public:
  static constexpr std::size_t kShareBytes = 32;
  using Share = std::array<std::byte, kShareBytes>;

  KeyExchange();
  ~KeyExchange();
  KeyExchange(const KeyExchange&) = delete;
  KeyExchange& operator=(const KeyExchange&) = delete;

  /// Returns the share of this side, which the other side needs.
  const Share& share() const { return share_; }

  /// Returns the common secret of this object and the object whose share is `other`. Throws kCorrupt if `other` is not
  /// a usable share.
  Secret secret_with(const Share& other) const;

 private:
  struct Free {
    void operator()(evp_pkey_st* key) const;
  };

  std::unique_ptr<evp_pkey_st, Free> key_;
  Share share_{};
};

}  // namespace trainyard::streams
