// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::core {

/// What the owner of a key may do with a run.
enum class Role : std::uint8_t {
  kWatch,    ///< Ask and listen, and change nothing.
  kControl,  ///< Also change the run: set parameters, call services, pause it.
  kMember,   ///< Take part in the run, or vouch for it: the key of a host. It includes the rights of kControl.
};

/// Returns "watch", "control" or "member".
const char* name_of(Role role);
/// Returns the role with this name. Throws kInvalidArgument, with the nearest name.
Role role_from_name(const std::string& name);

/// The part of a key that everybody may know. It is what others enter into their lists.
struct PublicKey {
  std::string name;  ///< What its owner is called: 1 to 64 letters, digits, '_', '-' and '.', the first not '.'.
  Role role = Role::kWatch;
  std::string text;  ///< The key itself: 40 characters of Z85, as libzmq writes keys.

  /// Returns the line that others enter into their lists: "trainyard-key laptop watch <40 characters>".
  std::string line() const;
  /// Reads a line of line(). Throws kInvalidArgument.
  static PublicKey read(std::string_view line);
  /// Returns a short form that people can compare: the first 16 hexadecimal digits of the key, in groups of four.
  std::string fingerprint() const;
};

/// A key with its secret part: a CURVE key pair with a name and a role.
struct Key : PublicKey {
  std::string secret;  ///< 40 characters of Z85. It must reach neither a log nor a command line.

  /// Makes a new key. Throws kInvalidArgument for an invalid name, and kUnsupported if libzmq was built without CURVE.
  static Key make(const std::string& name, Role role);
};

/// Throws kInvalidArgument unless `name` can name a key.
void check_key_name(const std::string& name);

/// Returns the 32 bytes of a key. Throws kInvalidArgument unless `text` is 40 characters of Z85; the error does not
/// show the key.
std::string key_bytes(std::string_view text);

}  // namespace trainyard::core
