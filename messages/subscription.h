#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// The first message of a subscriber on a data socket, answered by Subscribed. The subscriber sends it again after a
/// reconnect, since the publisher forgets a connection that broke. The messages of this file are the protocol of
/// docs/wire_format.md, section 3.
struct Subscribe {
  static constexpr const char* kTypeName = "Subscribe";

  std::uint32_t subscription = 0;      ///< Chosen by the subscriber; every header repeats it.
  std::string topic;                   ///< The full name of the topic.
  std::uint32_t edge = 0xffff'ffff;    ///< EdgePlan::id, or 2^32 - 1 for a visitor that is not in the plan.
  std::uint64_t fingerprint = 0;       ///< The fingerprint that the subscriber expects; 0 accepts any type.
  std::string policy = "drop_oldest";  ///< A visitor cannot ask for another policy.
  std::uint64_t window_messages = 64;  ///< The credits given at the start.
  std::uint64_t window_bytes = 268435456;
  std::string payloads = "none";    ///< "handle", "inline" (the bytes) or "none" (empty frames).
  std::uint32_t process_index = 0;  ///< For "handle": the index under which references are counted.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription), CEREAL_NVP(topic), CEREAL_NVP(edge), CEREAL_NVP(fingerprint), CEREAL_NVP(policy),
            CEREAL_NVP(window_messages), CEREAL_NVP(window_bytes), CEREAL_NVP(payloads), CEREAL_NVP(process_index));
  }
};

/// The acknowledgement of a Subscribe. The publisher sends nothing for this subscription before it. The schema is
/// included even if the subscription is refused, so that an error can show both sides.
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

/// The subscriber has handled this much, and the publisher may send as much again. It is sent whenever half a window
/// has been handled, so that credits cost a fraction of a message. A publisher never believes more than it has sent.
struct Credit {
  static constexpr const char* kTypeName = "Credit";

  std::uint32_t subscription = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  ///< The sum of the sizes that the publisher counted: body and payloads.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription), CEREAL_NVP(messages), CEREAL_NVP(bytes));
  }
};

/// The subscriber wants no more messages. There is no answer, and messages under way still arrive.
struct Unsubscribe {
  static constexpr const char* kTypeName = "Unsubscribe";

  std::uint32_t subscription = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription));
  }
};

/// The publisher asks for all credits that are due, now and after every further message. It does so when its component
/// is being deactivated and must know that everything has been handled, however small a part of a window that is.
struct Flush {
  static constexpr const char* kTypeName = "Flush";

  std::uint32_t subscription = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription));
  }
};

}  // namespace trainyard
