// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "checkpoints/durable_file.h"
#include "messages/error.h"

namespace trainyard::checkpoints {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

/// Throws kInternal if a call of libcrypto has failed, which happens only if memory is exhausted or the call is wrong.
void require(int result, const char* call) {
  if (result != 1) throw Error(Code::kInternal, "libcrypto: {} failed", call);
}

}  // namespace

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  require(EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr), "EVP_DigestInit_ex");
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()), "EVP_DigestUpdate");
}

std::string Sha256::finish() {
  std::array<std::uint8_t, 32> digest{};
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(impl_->context, digest.data(), &size), "EVP_DigestFinal_ex");
  return to_hex(digest);
}

FileDigest digest_file(const std::string& path) {
  const InputFile file(path);
  // The file is read in pieces of 1 MiB, which is efficient and needs little memory.
  std::vector<std::byte> chunk(1 << 20);
  Sha256 hash;
  std::uint64_t position = 0;
  while (position < file.size()) {
    const auto piece = std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), file.size() - position));
    file.read(position, piece);
    hash.add(piece);
    position += piece.size();
  }
  return {file.size(), hash.finish()};
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::vector<std::uint8_t> from_hex(const std::string& text, const std::string& where) {
  std::vector<std::uint8_t> bytes(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kDigits.find(text[i]);
    // Only lower-case digits are accepted, so that every value has exactly one spelling.
    if (digit == std::string_view::npos || text.size() % 2 != 0) {
      throw Error(Code::kCorrupt, "{}: {} characters that are not pairs of the digits 0-9a-f", where, text.size());
    }
    bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] << 4 | digit);
  }
  return bytes;
}

}  // namespace trainyard::checkpoints
