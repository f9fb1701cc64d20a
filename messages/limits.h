// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainyard {

/// The constants in this file are the limits of the wire format. A message that exceeds one of them is corrupt. The
/// limits leave ample room for normal messages and bound the work that a malicious message can cause. Programs in other
/// languages can rely on them, because they are part of docs/wire_format.md.
constexpr std::size_t kMaxPayloads = 64;    ///< The maximum number of distinct buffers in one message.
constexpr std::size_t kMaxDimensions = 16;  ///< The maximum number of dimensions of one tensor.
/// The maximum length of a topic's name. libzmq silently loses subscriptions to names of 246 to 255 bytes.
constexpr std::size_t kMaxTopicBytes = 200;
/// The maximum size of a message's body. Large data belongs in payloads.
constexpr std::size_t kMaxBodyBytes = 64ull << 20;
constexpr std::size_t kMaxNesting = 32;            ///< The maximum depth to which types may be nested in a schema.
constexpr std::size_t kMaxSchemaBytes = 64 << 10;  ///< The maximum size of a schema's text.
constexpr std::size_t kMaxControlBytes = 4096;     ///< The maximum size of a frame from a subscriber to a publisher.
/// The maximum size of a question to the launcher, such as one about topics.
constexpr std::size_t kMaxQuestionBytes = 1 << 20;
/// The maximum number of messages in flight on a subscription of a program outside the run.
constexpr std::uint64_t kMaxVisitorWindow = 1024;
/// The maximum number of bytes in flight on a subscription of a program outside the run.
constexpr std::uint64_t kMaxVisitorWindowBytes = 64ull << 20;
/// The maximum number of subscriptions on one connection of a program outside the run.
constexpr std::size_t kMaxVisitorSubscriptions = 64;
constexpr std::uint32_t kNoPayload = 0xffff'ffff;  ///< The payload index of a tensor without bytes.

}  // namespace trainyard
