// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "streams/gcm.h"
#include "streams/libcrypto.h"

struct evp_cipher_ctx_st;

namespace trainyard::streams {

/// AES-128-GCM as implemented by OpenSSL.
class LibcryptoGcm final : public Gcm {
 public:
  explicit LibcryptoGcm(Direction direction);
  ~LibcryptoGcm() override;

  void use_key(std::span<const std::byte, kKeyBytes> key) override;
  void seal(Nonce nonce, Bytes associated, Bytes plain, std::byte* sealed) override;
  bool open(Nonce nonce, Bytes associated, Bytes sealed, std::span<const std::byte, kTagBytes> tag,
            std::byte* plain) override;

 private:
  void begin(Nonce nonce, Bytes associated);

  struct Free {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  std::unique_ptr<evp_cipher_ctx_st, Free> context_;
  const Direction direction_;
};

}  // namespace trainyard::streams
