// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

namespace trainyard::streams {

using Bytes = std::span<const std::byte>;

/// A message authentication code (HMAC-SHA256). It proves that certain bytes come from somebody who knows a certain
/// secret.
using Proof = std::array<std::byte, 32>;

/// A secret of 32 bytes. The bytes are overwritten when the object is destroyed. The class has no conversion to text,
/// so that a secret cannot appear in a log or an error by mistake.
class Secret {
 public:
  static constexpr std::size_t kBytes = 32;

  explicit Secret(std::span<const std::byte, kBytes> bytes);
  ~Secret();
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;

  /// Returns a new secret from the random generator of libcrypto.
  static Secret random();

  /// Derives another secret, from which this secret cannot be computed (HKDF-SHA256, RFC 5869). `label` names the
  /// purpose of the new secret, and `context` contains everything else that it depends on. Equal arguments yield equal
  /// secrets.
  Secret derive(std::string_view label, std::initializer_list<Bytes> context = {}) const;

  /// Returns the proof for the concatenation of `parts`. `label` names the purpose of the proof. All parts except the
  /// last must have fixed sizes, so that different parts never have the same concatenation.
  Proof prove(std::string_view label, std::initializer_list<Bytes> parts) const;
  /// Returns true if `proof` is what prove() returns for `label` and `parts`. The comparison always takes the same
  /// time, so the time does not reveal where the proofs differ.
  bool accepts(const Proof& proof, std::string_view label, std::initializer_list<Bytes> parts) const;

  std::span<const std::byte, kBytes> bytes() const { return bytes_; }

 private:
  std::array<std::byte, kBytes> bytes_{};
};

/// A digest of texts that identify the purpose for which keys and proofs are valid, such as the streams of one group in
/// one run.
using Binding = std::array<std::byte, 32>;

/// Returns the SHA-256 digest of a list of texts. Different lists have different digests.
Binding binding_of(std::span<const std::string_view> texts);

}  // namespace trainyard::streams
