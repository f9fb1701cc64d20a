// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "streams/secret.h"

struct evp_pkey_st;

namespace trainyard::streams {

/// One side of an exchange after which two members share a secret that nobody else can compute, even if everybody has
/// seen what they sent each other (X25519, RFC 7748). The shares must come over a channel that nobody else can write
/// to; anybody may read it. Every object has a new key, so secrets of the past stay secret even if a later one is lost.
class KeyExchange {
 public:
  static constexpr std::size_t kShareBytes = 32;
  using Share = std::array<std::byte, kShareBytes>;

  KeyExchange();
  ~KeyExchange();
  KeyExchange(const KeyExchange&) = delete;
  KeyExchange& operator=(const KeyExchange&) = delete;

  /// What the other members must get.
  const Share& share() const { return share_; }

  /// Returns the secret that this object has in common with the object whose share is `other`. Throws kCorrupt if
  /// `other` is not a usable share.
  Secret secret_with(const Share& other) const;

 private:
  struct Free {
    void operator()(evp_pkey_st* key) const;
  };

  std::unique_ptr<evp_pkey_st, Free> key_;
  Share share_{};
};

}  // namespace trainyard::streams
