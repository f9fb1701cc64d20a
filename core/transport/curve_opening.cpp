// SPDX-License-Identifier: Apache-2.0
#include "core/transport/curve_opening.h"

#include <sodium.h>
#include <zmq.h>

#include <algorithm>

#include "messages/error.h"

namespace trainyard::core {
namespace {

using namespace std::string_view_literals;

// The parts of a greeting: ten bytes that no other version of the protocol begins with, the version, the mechanism in
// 20 bytes, and whether the sender is a server.
constexpr std::string_view kSignature = "\xff\0\0\0\0\0\0\0\1\x7f"sv;
constexpr std::string_view kMechanism = "CURVE\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv;
constexpr std::size_t kVersionAt = 10, kMechanismAt = 12, kServerAt = 32;
constexpr char kMajorVersion = 3, kMinorVersion = 1;

// A command begins with flags, its size, and its name with the length of the name. HELLO then has the version of CURVE,
// zeros, the client's key for this connection, a number, and zeros that are encrypted for the server.
constexpr std::string_view kHello = "\4\xc8\5HELLO\1\0"sv;
constexpr std::size_t kClientKeyAt = CurveOpening::kGreetingBytes + 10 + 72;
constexpr std::size_t kNumberAt = kClientKeyAt + crypto_box_PUBLICKEYBYTES, kNumberBytes = 8;
constexpr std::size_t kBoxAt = kNumberAt + kNumberBytes, kZeros = 64;
static_assert(kBoxAt + crypto_box_MACBYTES + kZeros == CurveOpening::kBytes);

constexpr std::size_t kWelcomeBytes = 170;
constexpr std::string_view kReady = "\5READY"sv;
/// A size takes one byte or, with this flag, eight.
constexpr char kLongSize = 2;

/// Returns true if the part of `expected` that `bytes` covers from `at` on is the same there.
bool agrees(std::string_view bytes, std::size_t at, std::string_view expected) {
  if (bytes.size() <= at) return true;
  bytes = bytes.substr(at, expected.size());
  return expected.starts_with(bytes);
}

const std::uint8_t* as_bytes(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

}  // namespace

CurveOpening::CurveOpening(const std::string& secret) {
  if (secret.size() != secret_.size() * 5 / 4 || zmq_z85_decode(secret_.data(), secret.c_str()) == nullptr)
    throw Error(Code::kInvalidArgument, "a secret key of {} characters; 40 of Z85 are needed", secret.size());
  if (sodium_init() < 0) throw Error(Code::kUnsupported, std::string("libsodium cannot be used on this host"));
}

CurveOpening::~CurveOpening() { sodium_memzero(secret_.data(), secret_.size()); }

std::string CurveOpening::server_greeting() {
  std::string greeting(kSignature);
  greeting += {kMajorVersion, kMinorVersion};
  greeting += kMechanism;
  greeting += '\1';
  greeting.resize(kGreetingBytes);
  return greeting;
}

// The signature contains a size that other implementations may set, and the end of a greeting is not defined.
bool CurveOpening::is_possible(std::string_view bytes) {
  return agrees(bytes, 0, kSignature.substr(0, 1)) && agrees(bytes, kSignatureBytes - 1, kSignature.substr(9)) &&
         (bytes.size() <= kVersionAt || bytes[kVersionAt] >= kMajorVersion) &&
         agrees(bytes, kMechanismAt, kMechanism) && agrees(bytes, kServerAt, "\0"sv) &&
         agrees(bytes, kGreetingBytes, kHello);
}

bool CurveOpening::knows_server(std::string_view bytes) const {
  std::array<std::uint8_t, crypto_box_NONCEBYTES> nonce{};
  constexpr std::string_view kPrefix = "CurveZMQHELLO---";
  std::ranges::copy(kPrefix, nonce.begin());
  std::ranges::copy(bytes.substr(kNumberAt, kNumberBytes), nonce.begin() + kPrefix.size());
  std::array<std::uint8_t, kZeros> zeros{};
  return crypto_box_open_easy(zeros.data(), as_bytes(bytes.substr(kBoxAt)), crypto_box_MACBYTES + kZeros, nonce.data(),
                              as_bytes(bytes.substr(kClientKeyAt)), secret_.data()) == 0;
}

std::string_view CurveOpening::client_key(std::string_view bytes) {
  return bytes.substr(kClientKeyAt, crypto_box_PUBLICKEYBYTES);
}

bool CurveOpening::is_admitted(std::string_view sent) {
  constexpr std::size_t kReadyAt = kGreetingBytes + kWelcomeBytes;
  if (sent.size() <= kReadyAt) return false;
  const std::size_t header = (sent[kReadyAt] & kLongSize) != 0 ? 9 : 2;
  return sent.substr(kReadyAt).size() >= header + kReady.size() && agrees(sent, kReadyAt + header, kReady);
}

}  // namespace trainyard::core
