// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::core {

/// What the owner of a key may do with a run.
enum class Role : std::uint8_t {
  kWatch,    ///< The owner may ask and listen, but change nothing.
  kControl,  ///< The owner may also change the run: set parameters, call services, and pause it.
  kMember,   ///< The owner may take part in the run as one of its hosts. This role includes the rights of kControl.
};

/// Returns "watch", "control" or "member".
const char* name_of(Role role);
/// Returns the role with this name. Otherwise throws kInvalidArgument, which suggests the nearest name.
Role role_from_name(const std::string& name);

/// The public part of a key, which its owner gives to others, so that they can add it to their lists of admitted keys.
struct PublicKey {
  /// The name of the owner: 1 to 64 letters, digits, '_', '-' and '.', of which the first is not '.'.
  std::string name;
  Role role = Role::kWatch;
  std::string text;  ///< The key itself: 40 characters in the encoding Z85, which libzmq uses for keys.

  /// Returns the key as one line of a list: "trainyard-key laptop watch <40 characters>".
  std::string line() const;
  /// Reads a line that line() has made. Throws kInvalidArgument if it is not such a line.
  static PublicKey read(std::string_view line);
  /// Returns a short form that people can compare: the first 16 hexadecimal digits of the key, in groups of four.
  std::string fingerprint() const;
};

/// A CURVE key pair, with the name of its owner and a role.
struct Key : PublicKey {
  /// The secret part: 40 characters in the encoding Z85. It must never appear in a log or on a command line.
  std::string secret;

  /// Makes a new key. Throws kInvalidArgument for an invalid name, and kUnsupported if libzmq was built without CURVE.
  static Key make(const std::string& name, Role role);
};

/// Throws kInvalidArgument unless `name` is allowed as the name of a key.
void check_key_name(const std::string& name);

/// Converts a key from 40 characters of Z85 to its 32 bytes. Throws kInvalidArgument for any other text; the error does
/// not show the key.
std::string key_bytes(std::string_view text);

}  // namespace trainyard::core
