// SPDX-License-Identifier: Apache-2.0
#include "streams/key_exchange.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include "streams/libcrypto.h"

namespace trainyard::streams {
namespace {

using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

}  // namespace

void KeyExchange::Free::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

KeyExchange::KeyExchange() {
  const Secret secret = Secret::random();
  key_.reset(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, octets(secret.bytes().data()), Secret::kBytes));
  require(key_ != nullptr, "EVP_PKEY_new_raw_private_key");
  std::size_t size = kShareBytes;
  require(EVP_PKEY_get_raw_public_key(key_.get(), octets(share_.data()), &size) == 1, "EVP_PKEY_get_raw_public_key");
}

KeyExchange::~KeyExchange() = default;

// Derives the result also from both shares. If somebody has changed a share on its way, the two sides get different
// secrets and notice this.
Secret KeyExchange::secret_with(const Share& other) const {
  const Key peer(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, octets(other.data()), other.size()));
  require(peer != nullptr, "EVP_PKEY_new_raw_public_key");
  const std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>> work(EVP_PKEY_CTX_new(key_.get(), nullptr));
  require(work != nullptr && EVP_PKEY_derive_init(work.get()) == 1, "EVP_PKEY_derive_init");
  std::array<std::byte, Secret::kBytes> raw{};
  std::size_t size = raw.size();
  // libcrypto refuses the few special shares for which everybody could compute the secret.
  if (EVP_PKEY_derive_set_peer(work.get(), peer.get()) != 1 ||
      EVP_PKEY_derive(work.get(), octets(raw.data()), &size) != 1) {
    throw Error(Code::kCorrupt, "the share of a key exchange is not usable: {} of its bytes are zero",
                std::ranges::count(other, std::byte{0}));
  }
  const Secret agreed(raw);
  OPENSSL_cleanse(raw.data(), raw.size());
  return agreed.derive("key exchange", {std::min(share_, other), std::max(share_, other)});
}

}  // namespace trainyard::streams
