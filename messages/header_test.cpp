// SPDX-License-Identifier: Apache-2.0
#include "messages/header.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "messages/error.h"

namespace trainyard {
namespace {

std::string bytes_of(const Header& header) { return {reinterpret_cast<const char*>(&header), sizeof header}; }

std::string refusal(const std::string& bytes) {
  try {
    read_header(std::as_bytes(std::span(bytes)));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    return error.what();
  }
  return "accepted";
}

// The table in docs/wire_format.md contains the same offsets.
TEST(HeaderTest, HasEveryFieldWhereTheWireFormatSays) {
  EXPECT_EQ(offsetof(Header, magic), 0u);
  EXPECT_EQ(offsetof(Header, version), 4u);
  EXPECT_EQ(offsetof(Header, payloads), 6u);
  EXPECT_EQ(offsetof(Header, fingerprint), 8u);
  EXPECT_EQ(offsetof(Header, sequence), 16u);
  EXPECT_EQ(offsetof(Header, source), 24u);
  EXPECT_EQ(offsetof(Header, subscription), 28u);
  EXPECT_EQ(offsetof(Header, send_time_ns), 32u);
  EXPECT_EQ(offsetof(Header, trace), 40u);
  EXPECT_EQ(offsetof(Header, handles), 48u);
  EXPECT_EQ(bytes_of(Header{}).substr(0, 4), "TRYD");
}

TEST(HeaderTest, ComesBackAsItWas) {
  Header header;
  header.payloads = 3;
  header.fingerprint = 0x0123456789abcdef;
  header.send_time_ns = -1;
  header.handles = 5;
  const std::string bytes = bytes_of(header);
  const Header back = read_header(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(bytes_of(back), bytes);
}

TEST(HeaderTest, RefusesAnyOtherLength) {
  EXPECT_EQ(refusal(""), "message header has 0 bytes; 56 expected");
  EXPECT_EQ(refusal(std::string(57, '\0')), "message header has 57 bytes; 56 expected");
}

TEST(HeaderTest, RefusesAnotherMagicVersionOrTooManyPayloads) {
  Header header;
  header.magic = 0x12345678;
  EXPECT_EQ(refusal(bytes_of(header)), "message header has magic 0x12345678");
  header = {};
  header.version = 2;
  EXPECT_EQ(refusal(bytes_of(header)), "message has wire version 2; this build speaks 1");
  header = {};
  header.payloads = 65;
  EXPECT_EQ(refusal(bytes_of(header)), "message has 65 payloads; at most 64");
}

}  // namespace
}  // namespace trainyard
