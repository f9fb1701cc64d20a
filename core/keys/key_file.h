// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/keys/key.h"

namespace trainyard::core {

// A key file is a text of five lines, which only its owner may read:
//
//    trainyard-key-file 1
//    name laptop
//    role watch
//    public <40 characters of Z85>
//    secret <40 characters of Z85>

/// Returns the text of a key file, which contains the secret.
std::string key_file_text(const Key& key);

/// Writes a key into a new file with mode 0600. Throws kInvalidArgument if something exists at `path`, and kIo if the
/// file cannot be written.
void write_key_file(const std::string& path, const Key& key);

/// Reads a key file. Throws an error that names the file and the reason, and never contains the secret:
///  - kNotFound if the file does not exist
///  - kIo if the file cannot be read
///  - kInvalidArgument if `path` is not a regular file, or is a link that leads out of its folder; if others may read
///    or write the file; if the file or its folder belongs to neither this user nor root; or if others could replace
///    the file in its folder
///  - kCorrupt if the file is larger than 4 KiB or does not have the five lines, or if the secret key in it does not
///    belong to the public key
Key read_key_file(const std::string& path);

}  // namespace trainyard::core
