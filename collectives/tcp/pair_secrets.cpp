// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/pair_secrets.h"

#include <cstring>

#include "messages/error.h"

namespace trainyard::tcp {

AgreedSecrets::AgreedSecrets(const CollectiveContext& context) {
  const std::string own(reinterpret_cast<const char*>(exchange_.share().data()), exchange_.share().size());
  const auto notes = core::exchange(*context.rendezvous, context.name + "/tcp.shares", context.rank, context.ranks, own,
                                    context.timeout);
  for (std::size_t member = 0; member < notes.size(); ++member) {
    if (notes[member].size() != own.size()) {
      throw Error(Code::kCorrupt, "{}: the note of rank {} has {} bytes; a share of a key has {}", context.where,
                  context.ranks[member], notes[member].size(), own.size());
    }
    std::memcpy(shares_.emplace_back().data(), notes[member].data(), own.size());
  }
}

streams::Secret AgreedSecrets::with(std::uint32_t member) const { return exchange_.secret_with(shares_[member]); }

}  // namespace trainyard::tcp
