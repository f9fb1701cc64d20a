// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"
#include "collectives/tcp/settings.h"
#include "core/config/parameter.h"

namespace trainyard::tcp {

/// A collective over TCP, between hosts or on one host, encrypted and authenticated.
///
/// Each pair of ranks has a control stream for small operations, messages and pings; ranks with consecutive numbers,
/// and the first and the last rank, also have streams for bulk data. In a large reduction, partial sums travel from
/// each rank to the next in pieces. So every sum is computed in the order of the ranks, and the results have the same
/// bits as those of `shared_memory`. With `order = "any"`, large reductions use a ring instead, in which all ranks have
/// the same amount of work.
///
/// All connections are authenticated when they are made. Unless `encrypt` is false, all data is encrypted and
/// authenticated with AES-128-GCM, with keys that are new for every group. If encrypted data was changed, repeated,
/// left out or inserted on its way, the group fails with an error that names the rank and the stream. Data that is not
/// authentic is never used.
///
/// Parameters  interface, ports, streams, record_bytes, small_bytes, order, encrypt; all but the first two must be the
///             same on every rank
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
