// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/elements.h"
#include "collectives/request.h"
#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/buffer.h"

namespace trainyard {

namespace collectives {
struct Backend;
class Driver;
}  // namespace collectives

/// The arguments of a collective's constructor. Every rank of the group constructs a collective with the same name and
/// the same list of ranks.
struct CollectiveContext : PluginContext {
  std::string name;  ///< The name of the group, such as "world"; unique within the run.
  /// The ranks of the run that belong to the group, in ascending order, including this process's own rank. Empty if the
  /// collective is constructed only to read its parameters, while a launch file is checked.
  std::vector<std::uint32_t> ranks;
  std::chrono::milliseconds timeout{60'000};  ///< How long to wait for a rank that does not respond.
};

class Collective;

/// A handle to an operation in progress, small enough to pass by value. The caller must wait for every operation,
/// because the operation uses the caller's memory until wait() returns. A default-constructed Work stands for a
/// finished operation.
class Work {
 public:
  Work() = default;
  Work(Collective& collective, std::uint64_t number) : collective_(&collective), number_(number) {}

  /// Waits until this rank has the result of the operation. A second call on the same handle does nothing. Throws
  /// kTimeout if a rank does not respond, kPeerLost if a rank is gone, kShapeMismatch if ranks called different
  /// operations, and kIo if a library that the collective uses failed. The text names the ranks to blame.
  void wait();

  /// Returns true if wait() would return or throw immediately. The function never waits, but may carry out a part of
  /// the operation.
  bool done();

 private:
  Collective* collective_ = nullptr;  ///< Null if there is nothing to wait for.
  std::uint64_t number_ = 0;
};

/// Exchanges data between the ranks of a group, like a communicator of MPI or a process group of LibTorch. All ranks of
/// the group must call the same operations in the same order, with the same types, counts, bounds, reductions and
/// roots. Otherwise every rank gets kShapeMismatch, whose text lists what each rank called. send() and recv() are
/// exceptions: they involve only two ranks.
///
/// All operations are asynchronous: a call returns immediately, and the caller waits for the Work that the call
/// returns. Collective operations are carried out in the order of the calls, and so are the messages that one rank
/// sends to another. A message and a collective operation do not wait for each other unless they use the same memory.
/// If a rank ends before it has done its part of an operation, or does not respond within CollectiveContext::timeout,
/// all other ranks get an error that names this rank. The group can then no longer be used, and every further call
/// throws the same error.
///
/// Results do not depend on timing, because the values of the ranks are added in a fixed order. In the collectives
/// `shared_memory`, `zmq` and, by default, `tcp`, this is the order of the ranks, for every element.
///
/// Within the group, ranks are numbered from 0 and are called members; `ranks()` returns their numbers in the run. Only
/// one thread at a time may use a collective.
///
/// This class checks the arguments of the calls. The classes derived from it supply a backend, which moves the data and
/// detects ranks that are gone; see docs/collectives.md.
class Collective : public Configurable {
 public:
  static constexpr const char* kKind = "collective";
  using Context = CollectiveContext;

  explicit Collective(CollectiveContext& context);
  ~Collective() override;

  /// Connects the group. All members must call this function; it returns when the last member has called it. Operations
  /// are possible only afterwards. Throws kTimeout, naming the members that did not connect, or kUnsupported if the
  /// backend cannot work in this process.
  void connect();

  std::uint32_t rank() const { return rank_; }  ///< The number of this rank within the group.
  std::uint32_t size() const { return static_cast<std::uint32_t>(context_.ranks.size()); }
  const std::vector<std::uint32_t>& ranks() const { return context_.ranks; }
  const std::string& name() const { return context_.name; }

  /// Returns true if operations of kind `kind` accept memory in `space`; otherwise such operations throw kUnsupported.
  /// The default implementation accepts all host memory, shared or not, and no device memory.
  virtual bool serves(collectives::OperationKind kind, MemorySpace space) const;

  /// Returns `bytes` bytes of zeroed memory. If the backend supports it, operations work on this memory without a copy.
  /// Every member must call allocate() with the same sizes in the same order, after connect(). The memory exists as
  /// long as the collective, even if the caller releases the Buffer earlier. Do not use the memory after the collective
  /// has been destroyed.
  Buffer allocate(std::size_t bytes);

  /// Lets later operations on `memory` work without a copy, if the memory is shared memory (Buffer::shared) at every
  /// member and the backend supports this; otherwise the call changes nothing. Every member must call use() with memory
  /// of the same sizes in the same order, after connect(). A backend that supports this waits here for all members, and
  /// throws kShapeMismatch if the sizes differ.
  void use(const Buffer& memory);

  /// Reduces the data of all members in place with `op`: afterwards every member has the result. Throws kUnsupported
  /// for the mean of bools.
  Work all_reduce(Elements data, ReduceOp op);

  /// Copies the data of member `root` to all members, in place. Throws kInvalidArgument if there is no such member.
  Work broadcast(Elements data, std::uint32_t root);

  /// Collects the parts of all members, in place. Member m provides the elements [bounds[m], bounds[m + 1]) of `data`;
  /// afterwards every member has all elements. `bounds` contains size() + 1 numbers in ascending order, from 0 to
  /// data.count; a number may occur more than once. Empty `bounds` stand for equal_parts(data.count, size()). Throws
  /// kInvalidArgument for other bounds.
  Work all_gather(Elements data, std::span<const std::uint64_t> bounds = {});

  /// Reduces the data of all members in place with `op`: afterwards member m has its part of the result. The other
  /// elements are undefined. `bounds` divides the elements into parts as in all_gather(). Throws kUnsupported for the
  /// mean of bools.
  Work reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds = {});

  /// Starts a barrier, which is finished when every member has called this function.
  Work barrier();

  /// Sends a message to member `to`; the other members do not take part. The n-th send() to a member is received by
  /// that member's n-th recv() from the sender. The types and counts of the two calls must be equal; otherwise both
  /// members get kShapeMismatch. Throws kInvalidArgument if `to` is this member or not in the group.
  Work send(Elements data, std::uint32_t to);
  /// Receives a message from member `from` into `data`; see send().
  Work recv(Elements data, std::uint32_t from);

  /// Makes as much progress as possible without waiting. Code that computes while operations are in progress must call
  /// this function from time to time, because some collectives make progress only while one of their functions runs.
  /// Throws if the group has failed.
  void progress();

  /// Makes all operations of the group fail because this rank cannot continue, for instance after an exception. All
  /// other ranks get kPeerLost with a text that names this rank and contains `reason`. The function does nothing if the
  /// group has already failed, is not connected or has a single member.
  void abort(const std::string& reason) noexcept;

  /// Returns the texts of all members, in the order of the members. `text` is the text of the calling member. The texts
  /// may differ in length and may be empty. The function waits for all members.
  std::vector<std::string> all_gather_texts(const std::string& text);

  /// Returns the `parts` + 1 bounds that divide `count` elements into parts. All parts have the same size, except that
  /// the last ones may be smaller or empty.
  static std::vector<std::uint64_t> equal_parts(std::uint64_t count, std::uint32_t parts);

 protected:
  /// Throws kUnsupported, with the reason, if this backend cannot work in this process. connect() calls this function
  /// before it waits for the other members, and also in a group of one. The default does nothing.
  virtual void check() const {}

  /// Connects to the other members and returns the backend. connect() calls this function if the group has at least two
  /// members. Throws kTimeout, naming the members that do not connect.
  virtual collectives::Backend open() = 0;

  const CollectiveContext& context() const { return context_; }

 private:
  friend class Work;
  /// Starts an operation. The elements [bounds[m], bounds[m + 1]) are the part of member m. `bounds` is empty for send
  /// and recv.
  Work ask(collectives::Request request, Elements data, std::vector<std::uint64_t> bounds);
  std::vector<std::uint64_t> parts(std::uint64_t count, std::span<const std::uint64_t> bounds) const;
  void check_space(collectives::OperationKind kind, const Elements& data) const;
  void check_member(std::string_view what, std::uint32_t member) const;

  CollectiveContext context_;
  std::uint32_t rank_ = 0;
  /// What allocate() has returned. It is freed after the driver, whose operations in progress may use it.
  std::vector<Buffer> allocated_;
  std::unique_ptr<collectives::Driver> driver_;  ///< Set by connect(); null for a group of one.
};

/// Returns the boot ID of this machine: all processes of the machine get the same ID, and it changes when the machine
/// is restarted. Returns an empty string if the kernel does not provide a boot ID.
std::string host_identity();

/// Makes the collective of the group that `context` describes, and connects it. `plugin` names a plugin and contains
/// its parameters. The name "auto" selects shared_memory if all ranks of the group are on one host, otherwise tcp.
/// Throws what the plugin's constructor and connect() throw, and kInvalidArgument if `plugin` contains a parameter that
/// the plugin does not declare.
std::unique_ptr<Collective> make_collective(const PluginSpec& plugin, const CollectiveContext& context);

/// Makes and connects a collective of all ranks, for a component or model that exists on every rank. `name` becomes the
/// name of the group and must be unique within the run. `plugin` is as in make_collective(), and `timeout` is how long
/// to wait for a rank that does not respond.
///
/// Call the function on all ranks from a message handler, not from a life-cycle hook such as on_configure(). The
/// components of a process run these hooks one after another, so the first hook would wait forever for hooks that have
/// not begun.
std::unique_ptr<Collective> make_world(const PluginContext& context, const std::string& name,
                                       const PluginSpec& plugin = {"auto"},
                                       std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace trainyard

/// Registers the class `Class` as the collective `name`. `description` is a short text for users. The macro must be the
/// last line of the collective's .cpp, outside of any namespace.
#define TRAINYARD_COLLECTIVE(Class, name, description) \
  TRAINYARD_PLUGIN("collective", ::trainyard::Collective, ::trainyard::CollectiveContext, Class, name, "1", description)
