// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// The value of Subscribe::edge for a visitor: a program that attaches to a running launch, without being part of its
/// plan.
constexpr std::uint32_t kVisitorEdge = 0xffff'ffff;

/// The first message of a subscriber to a publisher, which answers with Subscribed. The subscriber sends it again after
/// a reconnect, since the publisher discards the state of a broken connection. Only for an edge with the policy `block`
/// it does not, because messages have been lost with the connection. The messages of this file are the protocol of
/// docs/wire_format.md, section 3.
struct Subscribe {
  static constexpr const char* kTypeName = "Subscribe";

  std::uint32_t subscription = 0;     ///< A number that the subscriber chooses; the header of every message repeats it.
  std::string topic;                  ///< The full name of the topic.
  std::uint32_t edge = kVisitorEdge;  ///< EdgePlan::id, or kVisitorEdge for a visitor.
  std::uint64_t fingerprint = 0;      ///< The fingerprint that the subscriber expects; 0 accepts any type.
  std::string policy = "drop_oldest";     ///< For a visitor: "drop_oldest" or "latest"; "block" is refused.
  std::uint64_t window_messages = 64;     ///< How many messages may be sent before the first Credit arrives.
  std::uint64_t window_bytes = 67108864;  ///< How many bytes may be sent before the first Credit arrives.
  /// What the payload frames contain: nothing ("none"), the bytes of tensors ("inline") or, only for processes of the
  /// run itself, the location of the bytes in shared memory ("handle").
  std::string payloads = "none";
  /// For "handle": the index under which shared buffers count this subscriber's references.
  std::uint32_t process_index = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription), CEREAL_NVP(topic), CEREAL_NVP(edge), CEREAL_NVP(fingerprint), CEREAL_NVP(policy),
            CEREAL_NVP(window_messages), CEREAL_NVP(window_bytes), CEREAL_NVP(payloads), CEREAL_NVP(process_index));
  }
};

/// The publisher's answer to a Subscribe, which accepts or refuses the subscription. It precedes all other messages of
/// the subscription. The schema is included even if the subscription is refused, so that an error message can show the
/// types of both sides.
struct Subscribed {
  static constexpr const char* kTypeName = "Subscribed";

  std::uint32_t subscription = 0;
  std::string topic;
  std::string type;
  std::uint64_t fingerprint = 0;
  std::string schema;  ///< The canonical schema text, which is enough to decode every message of this subscription.
  std::string error;   ///< Why the subscription is refused; empty if it is accepted.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription), CEREAL_NVP(topic), CEREAL_NVP(type), CEREAL_NVP(fingerprint), CEREAL_NVP(schema),
            CEREAL_NVP(error));
  }
};

/// A subscriber's message that returns credit: the subscriber has handled this many messages and bytes, so the
/// publisher may send the same amount again. A subscriber sends it whenever it has handled half of its initial credit,
/// so that few such messages are needed. A publisher ignores credit beyond what it has sent.
struct Credit {
  static constexpr const char* kTypeName = "Credit";

  std::uint32_t subscription = 0;
  std::uint64_t messages = 0;
  /// The total size of these messages: their bodies and, unless Subscribe::payloads is "none", their payloads. A
  /// payload that is sent as a handle counts with its full size.
  std::uint64_t bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription), CEREAL_NVP(messages), CEREAL_NVP(bytes));
  }
};

/// A subscriber's message that ends a subscription. There is no answer, and messages in flight still arrive.
struct Unsubscribe {
  static constexpr const char* kTypeName = "Unsubscribe";

  std::uint32_t subscription = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription));
  }
};

/// The publisher's request that the subscriber send Credit now for all messages that it has handled, and for each later
/// message as soon as it has handled the message. The publisher sends it when the sending component is being
/// deactivated, to find out when all messages have been handled.
struct Flush {
  static constexpr const char* kTypeName = "Flush";

  std::uint32_t subscription = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription));
  }
};

/// A publisher's announcement that no more messages will follow on this subscription. When a process ends normally, at
/// the end of the run, it sends this message to every subscriber outside the run.
struct Ended {
  static constexpr const char* kTypeName = "Ended";

  std::uint32_t subscription = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription));
  }
};

}  // namespace trainyard
