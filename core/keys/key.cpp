// SPDX-License-Identifier: Apache-2.0
#include "core/keys/key.h"

#include <fmt/format.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kCharactersOfKey = 40;
constexpr std::size_t kBytesOfKey = 32;
constexpr const char* kFirstWord = "trainyard-key";
constexpr std::array kRoles = {Role::kWatch, Role::kControl, Role::kMember};

// std::isalnum() is not used, because it depends on the locale.
bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

}  // namespace

const char* name_of(Role role) {
  switch (role) {
    case Role::kWatch:
      return "watch";
    case Role::kControl:
      return "control";
    case Role::kMember:
      return "member";
  }
  return "watch";
}

Role role_from_name(const std::string& name) {
  for (const Role role : kRoles) {
    if (name == name_of(role)) return role;
  }
  const std::string shown = printable_line(name.substr(0, kLongestName));
  throw Error(Code::kInvalidArgument, "no role '{}'{}", shown, suggestion(name, {"watch", "control", "member"}));
}

void check_key_name(const std::string& name) {
  const bool valid = !name.empty() && name.size() <= kLongestName && name.front() != '.' && name.front() != '-' &&
                     std::ranges::all_of(name, may_be_in_name);
  if (valid) return;
  throw Error(Code::kInvalidArgument,
              "'{}' cannot name a key; a name has 1 to {} letters, digits, '_', '-' and '.', and begins with neither "
              "'-' nor '.'",
              printable_line(name.substr(0, kLongestName)), kLongestName);
}

// zmq_z85_decode() accepts some characters that are not in Z85, so its result is encoded again and compared with the
// text.
std::string key_bytes(std::string_view text) {
  std::string bytes(kBytesOfKey, '\0');
  char again[kCharactersOfKey + 1] = {};
  const std::string terminated(text);
  auto* out = reinterpret_cast<std::uint8_t*>(bytes.data());
  const bool decoded = terminated.size() == kCharactersOfKey && terminated.find('\0') == std::string::npos &&
                       zmq_z85_decode(out, terminated.c_str()) != nullptr &&
                       zmq_z85_encode(again, out, bytes.size()) != nullptr && terminated == again;
  if (decoded) return bytes;
  throw Error(Code::kInvalidArgument, "a key of {} characters was given; {} characters of Z85 are needed", text.size(),
              kCharactersOfKey);
}

std::string PublicKey::line() const { return fmt::format("{} {} {} {}", kFirstWord, name, name_of(role), text); }

PublicKey PublicKey::read(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; words.size() <= 4 && stream >> word;) words.push_back(word);
  if (words.size() != 4 || words.front() != kFirstWord) {
    throw Error(Code::kInvalidArgument,
                "not the line of a key; it has the form \"{} NAME ROLE KEY\", as printed by "
                "`trainyard keys show NAME`",
                kFirstWord);
  }
  check_key_name(words[1]);
  key_bytes(words[3]);
  return {.name = words[1], .role = role_from_name(words[2]), .text = words[3]};
}

std::string PublicKey::fingerprint() const {
  constexpr std::size_t kBytesShown = 8;
  const std::string bytes = key_bytes(text);
  std::string shown;
  for (std::size_t i = 0; i < kBytesShown; ++i) {
    shown += fmt::format("{}{:02x}", i != 0 && i % 2 == 0 ? "-" : "", static_cast<std::uint8_t>(bytes[i]));
  }
  return shown;
}

Key Key::make(const std::string& name, Role role) {
  check_key_name(name);
  char public_text[kCharactersOfKey + 1] = {};
  char secret_text[kCharactersOfKey + 1] = {};
  if (zmq_curve_keypair(public_text, secret_text) != 0) {
    throw Error(Code::kUnsupported, "cannot make a key: {}; libzmq must be built with CURVE",
                zmq_strerror(zmq_errno()));
  }
  Key key;
  key.name = name;
  key.role = role;
  key.text = public_text;
  key.secret = secret_text;
  return key;
}

}  // namespace trainyard::core
