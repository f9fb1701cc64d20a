// SPDX-License-Identifier: Apache-2.0
#include "messages/header.h"

#include <cstring>

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard {

// The magic is checked before the version, because an error about the version would mislead if the bytes are not a
// header at all.
Header read_header(std::span<const std::byte> frame) {
  Header header;
  if (frame.size() != sizeof header) {
    throw Error(Code::kCorrupt, "message header has {} bytes; {} expected", frame.size(), sizeof header);
  }
  std::memcpy(&header, frame.data(), sizeof header);
  if (header.magic != Header::kMagic) throw Error(Code::kCorrupt, "message header has magic {:#x}", header.magic);
  if (header.version != Header::kVersion) {
    throw Error(Code::kCorrupt, "message has wire version {}; this build speaks {}", header.version, Header::kVersion);
  }
  if (header.payloads > kMaxPayloads) {
    throw Error(Code::kCorrupt, "message has {} payloads; at most {}", header.payloads, kMaxPayloads);
  }
  return header;
}

}  // namespace trainyard
