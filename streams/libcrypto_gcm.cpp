// SPDX-License-Identifier: Apache-2.0
#include "streams/libcrypto_gcm.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <limits>

namespace trainyard::streams {
namespace {

int size_of(Bytes bytes) {
  require(bytes.size() <= std::numeric_limits<int>::max(), "a record of more than 2 GiB");
  return static_cast<int>(bytes.size());
}

}  // namespace

void LibcryptoGcm::Free::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

LibcryptoGcm::LibcryptoGcm(Direction direction) : context_(EVP_CIPHER_CTX_new()), direction_(direction) {
  require(context_ != nullptr, "EVP_CIPHER_CTX_new");
}

LibcryptoGcm::~LibcryptoGcm() = default;

void LibcryptoGcm::use_key(std::span<const std::byte, kKeyBytes> key) {
  require(EVP_CipherInit_ex(context_.get(), EVP_aes_128_gcm(), nullptr, octets(key.data()), nullptr,
                            direction_ == Direction::kSeal ? 1 : 0) == 1,
          "EVP_CipherInit_ex");
}

void LibcryptoGcm::begin(Nonce nonce, Bytes associated) {
  int ignored = 0;
  require(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, octets(nonce.data()), -1) == 1,
          "EVP_CipherInit_ex");
  require(EVP_CipherUpdate(context_.get(), nullptr, &ignored, octets(associated.data()), size_of(associated)) == 1,
          "EVP_CipherUpdate");
}

void LibcryptoGcm::seal(Nonce nonce, Bytes associated, Bytes plain, std::byte* sealed) {
  begin(nonce, associated);
  int written = 0;
  if (!plain.empty()) {
    require(EVP_EncryptUpdate(context_.get(), octets(sealed), &written, octets(plain.data()), size_of(plain)) == 1,
            "EVP_EncryptUpdate");
  }
  std::byte* tag = sealed + plain.size();
  require(EVP_EncryptFinal_ex(context_.get(), octets(tag), &written) == 1, "EVP_EncryptFinal_ex");
  require(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1, "EVP_CTRL_AEAD_GET_TAG");
}

bool LibcryptoGcm::open(Nonce nonce, Bytes associated, Bytes sealed, std::span<const std::byte, kTagBytes> tag,
                        std::byte* plain) {
  begin(nonce, associated);
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
