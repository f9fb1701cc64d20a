// SPDX-License-Identifier: Apache-2.0
#include "streams/secret.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "streams/libcrypto.h"

namespace trainyard::streams {
namespace {

// Joins the label, a zero byte and the parts. No label contains a zero byte, so the end of the label is unambiguous.
std::vector<std::byte> joined(std::string_view label, std::initializer_list<Bytes> parts) {
  std::vector<std::byte> all(label.size() + 1);
  std::ranges::copy(std::as_bytes(std::span(label)), all.begin());
  for (const Bytes part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

Secret::Secret(std::span<const std::byte, kBytes> bytes) { std::ranges::copy(bytes, bytes_.begin()); }

Secret::~Secret() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

Secret Secret::random() {
  std::array<std::byte, kBytes> bytes{};
  require(RAND_priv_bytes(octets(bytes.data()), kBytes) == 1, "RAND_priv_bytes");
  Secret secret(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return secret;
}

Secret Secret::derive(std::string_view label, std::initializer_list<Bytes> context) const {
  const std::unique_ptr<EVP_KDF, Freed<EVP_KDF_free>> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  require(kdf != nullptr, "EVP_KDF_fetch");
  const std::unique_ptr<EVP_KDF_CTX, Freed<EVP_KDF_CTX_free>> work(EVP_KDF_CTX_new(kdf.get()));
  require(work != nullptr, "EVP_KDF_CTX_new");
  std::vector<std::byte> info = joined(label, context);
  std::array<std::byte, kBytes> key = bytes_;
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.data(), key.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end(),
  };
  std::array<std::byte, kBytes> derived{};
  const bool done = EVP_KDF_derive(work.get(), octets(derived.data()), derived.size(), parameters) == 1;
  OPENSSL_cleanse(key.data(), key.size());
  require(done, "EVP_KDF_derive");
  Secret secret(derived);
  OPENSSL_cleanse(derived.data(), derived.size());
  return secret;
}

Proof Secret::prove(std::string_view label, std::initializer_list<Bytes> parts) const {
  const std::vector<std::byte> text = joined(label, parts);
  Proof proof{};
  unsigned int size = proof.size();
  require(HMAC(EVP_sha256(), bytes_.data(), kBytes, octets(text.data()), text.size(), octets(proof.data()), &size) !=
              nullptr,
          "HMAC");
  return proof;
}

bool Secret::accepts(const Proof& proof, std::string_view label, std::initializer_list<Bytes> parts) const {
  return CRYPTO_memcmp(proof.data(), prove(label, parts).data(), proof.size()) == 0;
}

Binding binding_of(std::span<const std::string_view> texts) {
  std::vector<std::byte> all;
  for (const std::string_view text : texts) {
    const std::uint64_t size = text.size();
    const Bytes length = std::as_bytes(std::span(&size, 1));
    all.insert(all.end(), length.begin(), length.end());
    const Bytes bytes = std::as_bytes(std::span(text));
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  Binding digest{};
  unsigned int size = digest.size();
  require(EVP_Digest(all.data(), all.size(), octets(digest.data()), &size, EVP_sha256(), nullptr) == 1, "EVP_Digest");
  return digest;
}

}  // namespace trainyard::streams
