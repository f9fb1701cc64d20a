// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "streams/key_exchange.h"

namespace trainyard::tcp {

/// Tells a member the secrets that it has in common with each of the other members, and with nobody else. All keys of
/// streams are derived from these secrets, so whoever has none of them can neither read nor forge anything.
class PairSecrets {
 public:
  virtual ~PairSecrets() = default;

  /// Returns the secret of this member and `member`.
  virtual streams::Secret with(std::uint32_t member) const = 0;
};

/// Secrets that the members of a group agree on when the group is made, by a key exchange through the notes of the
/// rendezvous. No secret is ever in a note. What matters is that only members can write notes: in a run, the notes are
/// files in the run directory, which belongs to the user. The keys exist only in the memory of the members, and every
/// group has new ones.
class AgreedSecrets final : public PairSecrets {
 public:
  /// Waits for all members. Throws kTimeout, naming the members that did not come, and kCorrupt, naming the member, for
  /// a note that is no share.
  explicit AgreedSecrets(const CollectiveContext& context);

  streams::Secret with(std::uint32_t member) const override;

 private:
  streams::KeyExchange exchange_;
  std::vector<streams::KeyExchange::Share> shares_;
};

}  // namespace trainyard::tcp
