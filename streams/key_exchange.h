// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "streams/secret.h"

struct evp_pkey_st;

namespace trainyard::streams {

/// One side of a key exchange (X25519, RFC 7748). Afterwards, two members have a secret in common that nobody else can
/// compute, even somebody who has read everything that they sent to each other. The shares must be sent over a channel
/// that others can read but not write. Every object has a new key, so secrets of the past stay secret even if a later
/// one becomes known.
class KeyExchange {
 public:
  static constexpr std::size_t kShareBytes = 32;
  using Share = std::array<std::byte, kShareBytes>;

  KeyExchange();
  ~KeyExchange();
  KeyExchange(const KeyExchange&) = delete;
  KeyExchange& operator=(const KeyExchange&) = delete;

  /// Returns the share of this side, which the other members need.
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
