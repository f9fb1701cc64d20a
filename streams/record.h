// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "streams/gcm.h"
#include "streams/secret.h"

namespace trainyard::streams {

/// The position of a record. A record is a piece of a stream that is encrypted and authenticated as a whole. Both sides
/// know the position from the operation that they carry out, so it is not sent. A record can be opened only with the
/// position with which it was sealed.
struct Position {
  std::uint64_t operation = 0;
  std::uint64_t offset = 0;
};

/// The number of bytes that encryption adds to a record: the length of the authentication tag.
constexpr std::size_t kTagBytes = Gcm::kTagBytes;

/// The common base of Sealer, which encrypts records, and Opener, which decrypts and verifies them. It uses AES-128-GCM
/// with one key for each direction of a stream. The nonce is derived from the number of the record, which is not sent
/// either. A record therefore cannot be opened if it was changed, repeated or moved, if an earlier record was left out,
/// or if it was made for another stream or another run. After `bytes_per_key` bytes, both sides derive the next key,
/// because one key is safe only for a limited number of bytes.
class RecordCipher {
 public:
  static constexpr std::uint64_t kBytesPerKey = std::uint64_t{1} << 36;

  /// Returns the number of records that have been sealed or opened.
  std::uint64_t count() const { return count_; }

 protected:
  /// What is authenticated with a record, but not sent: its position and its size.
  using Associated = std::array<std::uint64_t, 3>;

  RecordCipher(const Secret& secret, std::unique_ptr<Gcm> gcm, std::uint64_t bytes_per_key);

  /// Prepares for the next record, which has `bytes` bytes: replaces the key if necessary, and computes the nonce.
  Associated begin(const Position& position, std::uint64_t bytes);

  std::unique_ptr<Gcm> gcm_;
  std::array<std::byte, Gcm::kNonceBytes> nonce_{};  ///< The nonce of the current record.

 private:
  void use_next_key();

  Secret secret_;
  const std::uint64_t bytes_per_key_;
  std::uint64_t bytes_ = 0;  ///< The number of bytes that have been processed with the current key.
  std::uint64_t count_ = 0;
  /// The constant part of the nonce. It is combined with the number of the record.
  std::array<std::byte, Gcm::kNonceBytes> start_{};
};

/// Seals the records of one direction of a stream.
class Sealer final : public RecordCipher {
 public:
  explicit Sealer(const Secret& secret, std::uint64_t bytes_per_key = kBytesPerKey,
                  GcmLibrary library = gcm_libraries().front())
      : RecordCipher(secret, Gcm::make(library, Gcm::Direction::kSeal), bytes_per_key) {}

  /// Encrypts `plain`, and writes the result and the tag to `sealed`, which must have room for kTagBytes more bytes
  /// than `plain`. `plain` and `sealed` may begin at the same address. Does not allocate memory.
  void seal(const Position& position, std::span<const std::byte> plain, std::byte* sealed);
};

/// Opens the records that a Sealer with the same secret has sealed, in the same order.
class Opener final : public RecordCipher {
 public:
  explicit Opener(const Secret& secret, std::uint64_t bytes_per_key = kBytesPerKey,
                  GcmLibrary library = gcm_libraries().front())
      : RecordCipher(secret, Gcm::make(library, Gcm::Direction::kOpen), bytes_per_key) {}

  /// Decrypts `sealed`, which does not include the tag, to `plain`. `sealed` and `plain` may begin at the same address.
  /// Returns true if this is the next record of the Sealer, unchanged and sealed for this position. If the function
  /// returns false, the caller must not use `plain`, and must close the stream. Does not allocate memory.
  bool open(const Position& position, std::span<const std::byte> sealed, std::span<const std::byte, kTagBytes> tag,
            std::byte* plain);
};

}  // namespace trainyard::streams
