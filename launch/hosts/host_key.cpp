// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_key.h"

#include <cstdlib>

#include "core/files/regular_file.h"
#include "core/keys/key_file.h"
#include "core/keys/key_folder.h"
#include "messages/error.h"

namespace trainyard::launch {

std::string find_host_key(const std::string& given) {
  if (!given.empty()) return given;
  const char* named = std::getenv(kKeyFileVariable);
  if (named != nullptr && *named != '\0') return named;
  return core::KeyFolder().own_path("host");
}

core::RunKeys read_host_key(const std::string& file) {
  if (!core::is_there(file)) {
    throw Error(
        Code::kNotFound,
        "a run on several hosts needs a key, by which the hosts know each other, and there is no {}; `trainyard "
        "keys new host --role member` makes one, and topology.key_file or {} can name another file",
        file, kKeyFileVariable);
  }
  const core::Key key = core::read_key_file(file);
  if (key.role != core::Role::kMember) {
    throw Error(Code::kInvalidArgument, "{}: the key has the role {}; the hosts of a run need a key with the role {}",
                file, core::name_of(key.role), core::name_of(core::Role::kMember));
  }
  return {key.text, key.secret};
}

}  // namespace trainyard::launch
