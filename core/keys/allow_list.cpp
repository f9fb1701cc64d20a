// SPDX-License-Identifier: Apache-2.0
#include "core/keys/allow_list.h"

#include <sstream>

#include "messages/error.h"

namespace trainyard::core {

void AllowList::add(PublicKey key) {
  const auto [entry, is_new] = by_bytes_.try_emplace(key_bytes(key.text), key);
  if (is_new) return;
  throw Error(Code::kInvalidArgument, "the keys '{}' and '{}' are the same; a key is admitted once", entry->second.name,
              key.name);
}

const PublicKey* AllowList::find(std::string_view text) const {
  try {
    return find_bytes(key_bytes(text));
  } catch (const Error&) {
    return nullptr;  // A text that is not a key is not admitted, either.
  }
}

const PublicKey* AllowList::find_bytes(std::string_view bytes) const {
  const auto found = by_bytes_.find(bytes);
  return found == by_bytes_.end() ? nullptr : &found->second;
}

AllowList AllowList::read(std::string_view text, const std::string& source) {
  AllowList list;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    try {
      list.add(PublicKey::read(line));
    } catch (const Error& error) {
      throw Error(Code::kInvalidArgument, "{}:{}: {}", source, number, error.what());
    }
  }
  return list;
}

}  // namespace trainyard::core
