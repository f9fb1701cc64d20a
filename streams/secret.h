// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

namespace trainyard::streams {

using Bytes = std::span<const std::byte>;

/// A proof that somebody who knows a secret has written certain bytes (HMAC-SHA256).
using Proof = std::array<std::byte, 32>;

/// 32 secret bytes. They are overwritten when the object is destroyed. A secret has no text, so that it cannot get into
/// a log or an error by mistake.
class Secret {
 public:
  static constexpr std::size_t kBytes = 32;

  explicit Secret(std::span<const std::byte, kBytes> bytes);
  ~Secret();
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;

  /// Returns a new secret from the random generator of libcrypto.
  static Secret random();

  /// Returns another secret, from which nobody can compute this one (HKDF-SHA256, RFC 5869). `label` names its purpose,
  /// and `context` contains what else it depends on. Equal arguments give equal secrets.
  Secret derive(std::string_view label, std::initializer_list<Bytes> context = {}) const;

  /// Returns the proof for the concatenation of `parts`. All parts but the last must have fixed sizes.
  Proof prove(std::string_view label, std::initializer_list<Bytes> parts) const;
  /// Checks a proof, in a time that does not depend on where it differs.
  bool accepts(const Proof& proof, std::string_view label, std::initializer_list<Bytes> parts) const;

  std::span<const std::byte, kBytes> bytes() const { return bytes_; }

 private:
  std::array<std::byte, kBytes> bytes_{};
};

/// Identifies what keys and proofs are valid for, such as one group of one run: a digest of texts.
using Binding = std::array<std::byte, 32>;

/// Returns the SHA-256 digest of a list of texts. Different lists have different digests.
Binding binding_of(std::span<const std::string_view> texts);

}  // namespace trainyard::streams
