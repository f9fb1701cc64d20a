// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "streams/key_exchange.h"

namespace trainyard::tcp {

/// The secrets that one member shares with each of the other members, and with nobody else. All keys of streams are
/// derived from these secrets, so nobody without a secret can read or forge anything.
class PairSecrets {
 public:
  virtual ~PairSecrets() = default;

  /// Returns the secret that this member shares with `member`.
  virtual streams::Secret with(std::uint32_t member) const = 0;
};

/// Secrets on which the members of a group agree when the group is made. They use a key exchange through the notes of
/// the rendezvous, and no secret ever appears in a note. The exchange is safe as long as only members can write notes:
/// in a run, notes are files in the run directory, which belongs to the user. The keys exist only in the memory of the
/// members, and every group has new ones.
class AgreedSecrets final : public PairSecrets {
 public:
  /// Waits for the notes of all members. Throws kTimeout, naming the members whose notes are missing, and kCorrupt,
  /// naming the member, if a note contains no share.
  explicit AgreedSecrets(const CollectiveContext& context);

  streams::Secret with(std::uint32_t member) const override;

 private:
  streams::KeyExchange exchange_;
  std::vector<streams::KeyExchange::Share> shares_;
};

}  // namespace trainyard::tcp
