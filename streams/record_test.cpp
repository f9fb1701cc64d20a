// SPDX-License-Identifier: Apache-2.0
#include "streams/record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace trainyard::streams {
namespace {

constexpr std::size_t kSize = 1000;

Secret secret_of(int number) {
  std::array<std::byte, Secret::kBytes> bytes{};
  bytes[0] = static_cast<std::byte>(number);
  return Secret(bytes);
}

std::vector<std::byte> plain_of(int number) { return std::vector<std::byte>(kSize, static_cast<std::byte>(number)); }

std::string hex(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::vector<std::byte> seal(Sealer& sealer, const Position& position, const std::vector<std::byte>& plain) {
  std::vector<std::byte> sealed(plain.size() + kTagBytes);
  sealer.seal(position, plain, sealed.data());
  return sealed;
}

bool opens(Opener& opener, const Position& position, const std::vector<std::byte>& sealed,
           const std::vector<std::byte>& wanted) {
  std::vector<std::byte> plain(sealed.size() - kTagBytes);
  const std::span<const std::byte> all(sealed);
  return opener.open(position, all.first(plain.size()), all.last<kTagBytes>(), plain.data()) && plain == wanted;
}

TEST(RecordTest, OpensWhatWasSealedInTheSameOrder) {
  Sealer sealer(secret_of(1));
  Opener opener(secret_of(1));
  for (int i = 0; i < 5; ++i) {
    const Position position{7, static_cast<std::uint64_t>(i)};
    const auto sealed = seal(sealer, position, plain_of(i));
    EXPECT_NE(std::vector(sealed.begin(), sealed.end() - kTagBytes), plain_of(i));
    EXPECT_TRUE(opens(opener, position, sealed, plain_of(i)));
  }
  EXPECT_TRUE(opens(opener, {}, seal(sealer, {}, {}), {})) << "a record may be empty";
}

TEST(RecordTest, SealsAndOpensInPlace) {
  Sealer sealer(secret_of(1));
  Opener opener(secret_of(1));
  std::vector<std::byte> memory = plain_of(3);
  memory.resize(kSize + kTagBytes);
  sealer.seal({}, std::span(memory).first(kSize), memory.data());
  EXPECT_TRUE(opener.open({}, std::span(memory).first(kSize), std::span<const std::byte>(memory).last<kTagBytes>(),
                          memory.data()));
  EXPECT_TRUE(std::equal(memory.begin(), memory.begin() + kSize, plain_of(3).begin()));
}

// The expected bytes were computed with Python's package cryptography, with a key and a nonce derived with Python's
// hmac.
TEST(RecordTest, IsAesGcmWithTheCountInTheNonce) {
  Sealer sealer(secret_of(1));
  const std::string hello = "hello";
  const Bytes plain = std::as_bytes(std::span(hello));
  const std::vector<std::byte> record(plain.begin(), plain.end());
  EXPECT_EQ(hex(seal(sealer, {7, 4096}, record)), "25235289b22fd8915d662dc19e82a2496938533cd8");
  EXPECT_EQ(hex(seal(sealer, {7, 4096}, record)), "a7661b17bb79edbcfd1ce60a80330bcc7db967d6b4");
}

TEST(RecordTest, RefusesEveryAttack) {
  const Position position{7, 4096};
  const struct {
    const char* what;
    std::function<bool()> opened;
  } attacks[] = {
      {"a flipped bit anywhere",
       [&] {
         bool opened = false;
         for (const std::size_t place : {std::size_t{0}, kSize / 2, kSize - 1, kSize, kSize + kTagBytes - 1}) {
           Sealer sealer(secret_of(1));
           Opener opener(secret_of(1));
           auto sealed = seal(sealer, position, plain_of(1));
           sealed[place] ^= std::byte{1};
           opened |= opens(opener, position, sealed, plain_of(1));
         }
         return opened;
       }},
      {"a repeated record",
       [&] {
         Sealer sealer(secret_of(1));
         Opener opener(secret_of(1));
         const auto sealed = seal(sealer, position, plain_of(1));
         return opens(opener, position, sealed, plain_of(1)) && opens(opener, position, sealed, plain_of(1));
       }},
      {"records in another order",
       [&] {
         Sealer sealer(secret_of(1));
         Opener opener(secret_of(1));
         seal(sealer, position, plain_of(1));
         return opens(opener, position, seal(sealer, position, plain_of(1)), plain_of(1));
       }},
      {"a record of another operation",
       [&] {
         Sealer sealer(secret_of(1));
         Opener opener(secret_of(1));
         return opens(opener, {8, 4096}, seal(sealer, position, plain_of(1)), plain_of(1));
       }},
      {"a record of another place",
       [&] {
         Sealer sealer(secret_of(1));
         Opener opener(secret_of(1));
         return opens(opener, {7, 0}, seal(sealer, position, plain_of(1)), plain_of(1));
       }},
      {"a record without its end",
       [&] {
         Sealer sealer(secret_of(1));
         Opener opener(secret_of(1));
         auto sealed = seal(sealer, position, plain_of(1));
         sealed.erase(sealed.begin() + kSize / 2, sealed.begin() + kSize / 2 + 16);
         return opens(opener, position, sealed, std::vector(kSize - 16, std::byte{1}));
       }},
      {"a record of another run",
       [&] {
         Sealer sealer(secret_of(2));
         Opener opener(secret_of(1));
         return opens(opener, position, seal(sealer, position, plain_of(1)), plain_of(1));
       }},
  };
  for (const auto& attack : attacks) EXPECT_FALSE(attack.opened()) << attack.what;
}

TEST(RecordTest, ChangesTheKeyAfterAnAmountOfBytes) {
  constexpr std::uint64_t kFew = 3 * kSize;
  Sealer sealer(secret_of(1), kFew);
  Opener opener(secret_of(1), kFew);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(opens(opener, {}, seal(sealer, {}, plain_of(i)), plain_of(i))) << i;
  // An Opener that does not change its key cannot open the records after the third.
  Sealer changes(secret_of(1), kFew);
  Opener stays(secret_of(1));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(opens(stays, {}, seal(changes, {}, plain_of(i)), plain_of(i)), i < 3);
}

// The expected bytes were computed with Python's hmac according to RFC 5869.
TEST(SecretTest, DerivesAsTheSpecificationSays) {
  EXPECT_EQ(hex(secret_of(1).derive("a").bytes()), "b066d1e0864faf299240c03ab879256f6ca8d37034ccac288084b9d3d98630a3");
  const std::string text = "abc";
  EXPECT_EQ(hex(secret_of(1).prove("hello", {std::as_bytes(std::span(text))})),
            "f8cb9798ac8bd1a9f74c9572c96899572d046ecccbe9fd735a48dd07fece32fb");
}

TEST(SecretTest, WhatDiffersGivesAnotherSecret) {
  const Secret secret = secret_of(1);
  const auto same = [](const Secret& a, const Secret& b) { return std::ranges::equal(a.bytes(), b.bytes()); };
  EXPECT_TRUE(same(secret.derive("a"), secret.derive("a")));
  EXPECT_FALSE(same(secret.derive("a"), secret.derive("b")));
  EXPECT_FALSE(same(secret.derive("a"), secret_of(2).derive("a")));
  EXPECT_FALSE(same(secret.derive("a"), secret.derive("a", {secret.bytes()})));
  EXPECT_FALSE(same(Secret::random(), Secret::random()));
}

TEST(SecretTest, AcceptsOnlyItsOwnProofs) {
  const Secret secret = secret_of(1);
  const auto part = plain_of(1);
  const Proof proof = secret.prove("hello", {part});
  EXPECT_TRUE(secret.accepts(proof, "hello", {part}));
  EXPECT_FALSE(secret.accepts(proof, "answer", {part}));
  EXPECT_FALSE(secret.accepts(proof, "hello", {plain_of(2)}));
  EXPECT_FALSE(secret_of(2).accepts(proof, "hello", {part}));
}

}  // namespace
}  // namespace trainyard::streams
