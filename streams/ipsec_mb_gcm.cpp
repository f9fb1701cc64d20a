// SPDX-License-Identifier: Apache-2.0
#include "streams/ipsec_mb_gcm.h"

#include "streams/libcrypto.h"

#ifdef TRAINYARD_HAS_IPSEC_MB

#include <intel-ipsec-mb.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>

namespace trainyard::streams {
namespace {

/// The functions of the library for this processor.
struct Functions {
  Functions() : manager(alloc_mb_mgr(0), &free_mb_mgr) {
    if (manager) init_mb_mgr_auto(manager.get(), nullptr);
  }

  bool are_fast() const {
    constexpr std::uint64_t kNeeded = IMB_FEATURE_VAES | IMB_FEATURE_VPCLMULQDQ;
    return manager && imb_get_errno(manager.get()) == 0 && (manager->features & kNeeded) == kNeeded;
  }

  std::unique_ptr<IMB_MGR, void (*)(IMB_MGR*)> manager;
};

/// They are found once, because the library then tests itself. Of the manager, records use only the pointers to
/// functions, which do not change, so threads can share it.
const Functions& functions() {
  static const Functions found;
  return found;
}

/// How much is encrypted at a time while what follows is loaded.
constexpr std::size_t kPart = 4096;

/// Loads the part of `bytes` that is encrypted after the next one into the second-level cache.
void prefetch(Bytes bytes) {
  constexpr std::size_t kLine = 64;
  if (bytes.size() < kPart) return;
  bytes = bytes.subspan(kPart);
  for (std::size_t at = 0; at < std::min(bytes.size(), kPart); at += kLine) __builtin_prefetch(&bytes[at], 0, 2);
}

class FastGcm final : public Gcm {
 public:
  FastGcm() : functions_(*functions().manager) {}
  ~FastGcm() override {
    OPENSSL_cleanse(&key_, sizeof key_);
    OPENSSL_cleanse(&work_, sizeof work_);
  }

  void use_key(std::span<const std::byte, kKeyBytes> key) override {
    functions_.gcm128_pre(key.data(), &key_);
    OPENSSL_cleanse(&work_, sizeof work_);
  }

  // What is sealed usually comes from memory, and the library is too busy to load it ahead of time.
  void seal(Nonce nonce, Bytes associated, Bytes plain, std::byte* sealed) override {
    functions_.gcm128_init(&key_, &work_, octets(nonce.data()), octets(associated.data()), associated.size());
    while (!plain.empty()) {
      const std::size_t now = std::min(plain.size(), kPart);
      prefetch(plain.subspan(now));
      functions_.gcm128_enc_update(&key_, &work_, octets(sealed), octets(plain.data()), now);
      plain = plain.subspan(now);
      sealed += now;
    }
    functions_.gcm128_enc_finalize(&key_, &work_, octets(sealed), kTagBytes);
  }

  bool open(Nonce nonce, Bytes associated, Bytes sealed, std::span<const std::byte, kTagBytes> tag,
            std::byte* plain) override {
    std::array<std::byte, kTagBytes> right{};
    functions_.gcm128_dec(&key_, &work_, octets(plain), octets(sealed.data()), sealed.size(), octets(nonce.data()),
                          octets(associated.data()), associated.size(), octets(right.data()), kTagBytes);
    return CRYPTO_memcmp(tag.data(), right.data(), kTagBytes) == 0;
  }

 private:
  const IMB_MGR& functions_;
  gcm_key_data key_{};
  gcm_context_data work_{};
};

}  // namespace

bool IpsecMbGcm::suits() { return functions().are_fast(); }
std::unique_ptr<Gcm> IpsecMbGcm::make() { return std::make_unique<FastGcm>(); }

}  // namespace trainyard::streams

#else

namespace trainyard::streams {

bool IpsecMbGcm::suits() { return false; }
std::unique_ptr<Gcm> IpsecMbGcm::make() {
  throw Error(Code::kInternal, "this build has no library for multiple buffers");
}

}  // namespace trainyard::streams

#endif
