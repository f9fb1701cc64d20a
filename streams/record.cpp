// SPDX-License-Identifier: Apache-2.0
#include "streams/record.h"

#include <algorithm>
#include <cstring>

namespace trainyard::streams {

RecordCipher::RecordCipher(const Secret& secret, std::unique_ptr<Gcm> gcm, std::uint64_t bytes_per_key)
    : gcm_(std::move(gcm)), secret_(secret), bytes_per_key_(bytes_per_key) {
  use_next_key();
}

void RecordCipher::use_next_key() {
  secret_ = secret_.derive("next record key");
  const Secret material = secret_.derive("key and nonce");
  std::ranges::copy(material.bytes().subspan<Gcm::kKeyBytes, Gcm::kNonceBytes>(), start_.begin());
  gcm_->use_key(material.bytes().first<Gcm::kKeyBytes>());
  bytes_ = 0;
}

RecordCipher::Associated RecordCipher::begin(const Position& position, std::uint64_t bytes) {
  if (bytes_ >= bytes_per_key_) use_next_key();
  bytes_ += std::max<std::uint64_t>(bytes, kTagBytes);
  nonce_ = start_;
  std::uint64_t mixed = 0;
  std::memcpy(&mixed, nonce_.data() + 4, sizeof mixed);
  mixed ^= count_++;
  std::memcpy(nonce_.data() + 4, &mixed, sizeof mixed);
  return {position.operation, position.offset, bytes};
}

void Sealer::seal(const Position& position, std::span<const std::byte> plain, std::byte* sealed) {
  const Associated associated = begin(position, plain.size());
  gcm_->seal(nonce_, std::as_bytes(std::span(associated)), plain, sealed);
}

bool Opener::open(const Position& position, std::span<const std::byte> sealed,
                  std::span<const std::byte, kTagBytes> tag, std::byte* plain) {
  const Associated associated = begin(position, sealed.size());
  return gcm_->open(nonce_, std::as_bytes(std::span(associated)), sealed, tag, plain);
}

}  // namespace trainyard::streams
