// SPDX-License-Identifier: Apache-2.0
#include "streams/record.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "streams/libcrypto.h"

namespace trainyard::streams {
namespace {

constexpr std::size_t kKeyBytes = 16;

int size_of(std::span<const std::byte> bytes) {
  require(bytes.size() <= std::numeric_limits<int>::max(), "a record of more than 2 GiB");
  return static_cast<int>(bytes.size());
}

}  // namespace

void RecordCipher::Free::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

RecordCipher::RecordCipher(const Secret& secret, Direction direction, std::uint64_t bytes_per_key)
    : context_(EVP_CIPHER_CTX_new()), secret_(secret), direction_(direction), bytes_per_key_(bytes_per_key) {
  require(context_ != nullptr, "EVP_CIPHER_CTX_new");
  use_next_key();
}

RecordCipher::~RecordCipher() = default;

void RecordCipher::use_next_key() {
  secret_ = secret_.derive("next record key");
  const Secret material = secret_.derive("key and nonce");
  std::ranges::copy(material.bytes().subspan<kKeyBytes, 12>(), start_.begin());
  require(EVP_CipherInit_ex(context_.get(), EVP_aes_128_gcm(), nullptr, octets(material.bytes().data()), nullptr,
                            direction_ == Direction::kSeal ? 1 : 0) == 1,
          "EVP_CipherInit_ex");
  bytes_ = 0;
}

void RecordCipher::begin(const Position& position, std::uint64_t bytes) {
  if (bytes_ >= bytes_per_key_) use_next_key();
  bytes_ += std::max<std::uint64_t>(bytes, kTagBytes);
  std::array<std::byte, 12> nonce = start_;
  std::uint64_t mixed = 0;
  std::memcpy(&mixed, nonce.data() + 4, sizeof mixed);
  mixed ^= count_++;
  std::memcpy(nonce.data() + 4, &mixed, sizeof mixed);
  const std::uint64_t where[] = {position.operation, position.offset, bytes};
  int ignored = 0;
  require(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, octets(nonce.data()), -1) == 1,
          "EVP_CipherInit_ex");
  require(EVP_CipherUpdate(context_.get(), nullptr, &ignored, reinterpret_cast<const unsigned char*>(where),
                           sizeof where) == 1,
          "EVP_CipherUpdate");
}

void Sealer::seal(const Position& position, std::span<const std::byte> plain, std::byte* sealed) {
  begin(position, plain.size());
  int written = 0;
  if (!plain.empty()) {
    require(EVP_EncryptUpdate(context_.get(), octets(sealed), &written, octets(plain.data()), size_of(plain)) == 1,
            "EVP_EncryptUpdate");
  }
  std::byte* tag = sealed + plain.size();
  require(EVP_EncryptFinal_ex(context_.get(), octets(tag), &written) == 1, "EVP_EncryptFinal_ex");
  require(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1, "EVP_CTRL_AEAD_GET_TAG");
}

bool Opener::open(const Position& position, std::span<const std::byte> sealed,
                  std::span<const std::byte, kTagBytes> tag, std::byte* plain) {
  begin(position, sealed.size());
  int written = 0;
  if (!sealed.empty()) {
    require(EVP_DecryptUpdate(context_.get(), octets(plain), &written, octets(sealed.data()), size_of(sealed)) == 1,
            "EVP_DecryptUpdate");
  }
  std::array<std::byte, kTagBytes> copy{};
  std::ranges::copy(tag, copy.begin());
  require(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, copy.data()) == 1,
          "EVP_CTRL_AEAD_SET_TAG");
  std::byte none{};
  return EVP_DecryptFinal_ex(context_.get(), octets(&none), &written) == 1;
}

}  // namespace trainyard::streams
