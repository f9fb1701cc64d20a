// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::core {

/// The rights that a key gives its owner in a run.
enum class Role : std::uint8_t {
  kWatch,    ///< The owner may listen to topics and send requests that change nothing.
  kControl,  ///< The owner may also change the run: set parameters, call services, pause it.
  /// The owner is a host of the run, which proves with this key that it belongs to the run. It has the rights of
  /// kControl.
  kMember,
};

/// Returns "watch", "control" or "member".
const char* name_of(Role role);
/// Returns the role with this name. Throws kInvalidArgument if there is none; the error suggests the nearest name.
Role role_from_name(const std::string& name);

/// The part of a key that everybody may know, and that others add to their lists of admitted keys (AllowList).
struct PublicKey {
  /// The name of the owner: 1 to 64 letters, digits, '_', '-' and '.', beginning with neither '-' nor '.'.
  std::string name;
  Role role = Role::kWatch;
  std::string text;  ///< The key itself: 40 characters in Z85 encoding, which libzmq uses for keys.

  /// Returns the key as the line that others add to their lists: "trainyard-key laptop watch <40 characters>".
  std::string line() const;
  /// Reads a line that line() has returned. Throws kInvalidArgument if it does not have this form.
  static PublicKey read(std::string_view line);
  /// Returns a short form that people can compare: the first 16 hexadecimal digits of the key, in groups of four.
  std::string fingerprint() const;
};

/// A CURVE key pair, with the name of its owner and a role.
struct Key : PublicKey {
  /// The secret key: 40 characters in Z85 encoding. It must never appear in a log or on a command line.
  std::string secret;

  /// Makes a new key. Throws kInvalidArgument for an invalid name, and kUnsupported if libzmq was built without CURVE.
  static Key make(const std::string& name, Role role);
};

/// Throws kInvalidArgument if `name` is not allowed as the name of a key; see PublicKey::name.
void check_key_name(const std::string& name);

/// Returns the 32 bytes of the key that `text` contains as 40 characters of Z85. Throws kInvalidArgument for any other
/// text; the error does not contain the text.
std::string key_bytes(std::string_view text);

}  // namespace trainyard::core
