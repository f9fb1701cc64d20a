// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"
#include "collectives/tcp/settings.h"
#include "core/config/parameter.h"

namespace trainyard::tcp {

/// A collective over TCP, between hosts or on one host, encrypted and authenticated.
///
/// Every two members have a control stream, over which they agree and exchange small operations and messages;
/// neighbours also have streams for bulk data. A reduction travels along the chain of the members in pieces that
/// overlap, so that every sum is computed in the order of the ranks: the results have the same bits as those of
/// `shared_memory`. If the order does not matter, a ring shares the work more evenly.
///
/// All streams are authenticated, and everything is encrypted with AES-128-GCM unless `encrypt` is false. The keys are
/// made when the group is made. Whatever was changed, repeated, left out or inserted on the way makes the group fail,
/// with an error that names the member and the stream; it is never added to anything.
///
/// Parameters  interface, ports; streams, record_bytes, small_bytes, order and encrypt must be the same at every rank
/// Errors      kCorrupt for a record that is not authentic; kTimeout, naming the ranks that cannot be reached; kIo for
///             an address or ports that cannot be used; kInvalidArgument for parameters that differ
class Tcp final : public Collective {
 public:
  explicit Tcp(CollectiveContext& context) : Collective(context) {}

 private:
  void check() const override;
  collectives::Backend open() override;
  Settings settings() const;

  Parameter<std::string> interface_{*this, "interface", "auto",
                                    "network interface, or its address; auto: the loopback interface if all ranks are "
                                    "on one host, otherwise the first other one"};
  Parameter<std::string> ports_{
      *this, "ports", "any",
      "TCP ports at which ranks accept connections, such as \"20000-20100\"; any: whatever is free"};
  Parameter<std::int64_t> streams_{*this, "streams", 2, "streams for bulk data between neighbours", between(1, 16)};
  Parameter<std::int64_t> record_bytes_{*this, "record_bytes", 512 << 10,
                                        "largest piece that is encrypted and sent at a time",
                                        between(4 << 10, 16 << 20) | in_unit("bytes")};
  Parameter<std::int64_t> small_bytes_{*this, "small_bytes", 16 << 10,
                                       "largest operation in which ranks send each other all elements directly; less "
                                       "if there are more than five ranks",
                                       between(0, 1 << 20) | in_unit("bytes")};
  Parameter<Order> order_{*this, "order", Order::kRanks,
                          "order of additions; ranks: that of the ranks, any: one that shares the work more evenly"};
  Parameter<bool> encrypt_{*this, "encrypt", true, "whether elements are encrypted and authenticated"};
};

}  // namespace trainyard::tcp
