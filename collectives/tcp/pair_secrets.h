// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "streams/key_exchange.h"

namespace trainyard::tcp {

/// The secrets that one rank of a group shares with each of the other ranks, and with nobody else. The keys of all TCP
/// streams are derived from these secrets, so nobody else can read or forge the encrypted data that two ranks exchange.
class PairSecrets {
 public:
  virtual ~PairSecrets() = default;

  /// Returns the secret that is shared with `member`.
  virtual streams::Secret with(std::uint32_t member) const = 0;
};

/// Secrets on which the ranks of a group agree through a key exchange when they connect. They exchange their public
/// keys through the rendezvous, which stores each rank's texts (notes) as files in the run directory; the secrets
/// themselves never leave a process. The exchange is safe as long as only the ranks can write notes, so the run
/// directory must belong to the user. Every group has new secrets.
class AgreedSecrets final : public PairSecrets {
 public:
  /// Waits for the public keys of all members. Throws kTimeout, naming the ranks whose notes are missing, and kCorrupt,
  /// naming the rank, if a note does not contain a public key.
  explicit AgreedSecrets(const CollectiveContext& context);

  streams::Secret with(std::uint32_t member) const override;

 private:
  streams::KeyExchange exchange_;
  std::vector<streams::KeyExchange::Share> shares_;
};

}  // namespace trainyard::tcp
