// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "streams/secret.h"

namespace trainyard::streams {

/// The libraries that can compute AES-128-GCM. Their results are the same.
enum class GcmLibrary : std::uint8_t {
  kLibcrypto,  ///< OpenSSL, which every build has.
  /// Intel's IPSec Multi-Buffer library. It uses the processor's VAES instructions, which process up to four AES blocks
  /// at a time. OpenSSL uses them only from version 3.1 on.
  kIpsecMb,
};

/// Returns the libraries that this build has and that suit this processor, the fastest one first.
const std::vector<GcmLibrary>& gcm_libraries();

/// Authenticated encryption with AES-128-GCM. An object either seals (encrypts) all its records or opens (decrypts) all
/// of them.
class Gcm {
 public:
  static constexpr std::size_t kKeyBytes = 16;
  static constexpr std::size_t kNonceBytes = 12;
  static constexpr std::size_t kTagBytes = 16;

  using Nonce = std::span<const std::byte, kNonceBytes>;
  enum class Direction : bool { kOpen, kSeal };

  /// `library` must be one of gcm_libraries().
  static std::unique_ptr<Gcm> make(GcmLibrary library, Direction direction);
  virtual ~Gcm() = default;

  /// Sets the key. Must be called before the first record.
  virtual void use_key(std::span<const std::byte, kKeyBytes> key) = 0;

  /// Encrypts `plain` to `sealed`, and writes the tag directly after the encrypted bytes. `associated` is
  /// authenticated, too, but not encrypted. `plain` and `sealed` may begin at the same address.
  virtual void seal(Nonce nonce, Bytes associated, Bytes plain, std::byte* sealed) = 0;
  /// Decrypts `sealed` to `plain`. Returns false if the tag is wrong; `plain` must then not be used. `sealed` and
  /// `plain` may begin at the same address.
  virtual bool open(Nonce nonce, Bytes associated, Bytes sealed, std::span<const std::byte, kTagBytes> tag,
                    std::byte* plain) = 0;
};

}  // namespace trainyard::streams
