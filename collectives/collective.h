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

/// The arguments from which a collective is constructed. Every member of the group constructs its own collective, with
/// the same name and the same ranks.
struct CollectiveContext : PluginContext {
  std::string name;  ///< The name of the group, used once in a run, such as "world" or "host0".
  /// The ranks of the run that belong to the group, ascending; the member's own rank is among them.
  std::vector<std::uint32_t> ranks;
  std::chrono::milliseconds timeout{60'000};  ///< How long to wait for a rank that does not respond.
};

class Collective;

/// An operation under way. It is small and is passed by value. Discard it only after wait().
class Work {
 public:
  Work() = default;
  Work(Collective& collective, std::uint64_t number) : collective_(&collective), number_(number) {}

  /// Waits until this rank has the result of the operation. A second call does nothing. Throws kTimeout or kPeerLost
  /// and names the rank that does not respond, or throws kShapeMismatch and names the ranks that called another
  /// operation.
  void wait();

  /// Returns true if wait() would return or throw at once. This function never waits, but it may do some of the work.
  bool done();

 private:
  Collective* collective_ = nullptr;  ///< Null if there was nothing to do.
  std::uint64_t number_ = 0;
};

/// Carries out operations of a group of ranks. All ranks of the group must call the same operations in the same order,
/// with the same types and counts. Otherwise every rank gets kShapeMismatch, which lists what each rank called.
///
/// Every operation is asynchronous: the call returns at once, and the caller waits for its Work. Operations are carried
/// out in the order of the calls. No wait exceeds the timeout of the context: if a rank has ended or does not respond,
/// all other ranks get an error that names it. From then on the group cannot be used, and every call throws that error.
///
/// Results do not depend on timing, because the values of the ranks are added in a fixed order. With shared memory and
/// sockets this is the order of the ranks, for every element.
///
/// Within the group, ranks are numbered from 0 and are called members; `ranks()` returns their numbers in the run. Only
/// one thread at a time may use a collective.
///
/// This class checks the arguments of the calls. A backend derives from it and supplies agreement, attendance and
/// transport; see docs/collectives.md.
class Collective : public Configurable {
 public:
  static constexpr const char* kKind = "collective";
  using Context = CollectiveContext;

  explicit Collective(CollectiveContext& context);
  ~Collective();

  /// Connects the group. Every member must call it, and it returns when all of them have done so. Throws kTimeout,
  /// naming the members that did not connect, or kUnsupported if the backend cannot work in this process.
  void connect();

  std::uint32_t rank() const { return rank_; }  ///< This member's number within the group.
  std::uint32_t size() const { return static_cast<std::uint32_t>(context_.ranks.size()); }
  const std::vector<std::uint32_t>& ranks() const { return context_.ranks; }
  const std::string& name() const { return context_.name; }

  /// Returns true if operations of this kind accept memory in that space; otherwise they throw kUnsupported. The
  /// default accepts all host memory, shared or not.
  virtual bool serves(collectives::OperationKind kind, MemorySpace space) const;

  /// Returns zeroed memory of a kind that operations use without a copy, if the backend has such memory. Every member
  /// must call it with the same sizes in the same order, after connect(). The memory lives as long as the collective.
  Buffer allocate(std::size_t bytes);

  /// Announces that operations will work on this memory. If other processes can map it (Buffer::shared) and the backend
  /// makes use of this, operations then work in place. Every member must announce memory of the same sizes in the same
  /// order, after connect().
  void use(const Buffer& memory);

  /// Reduces the data of all ranks in place: afterwards every rank has the result.
  Work all_reduce(Elements data, ReduceOp op);

  /// Copies the data of member `root` to all ranks, in place.
  Work broadcast(Elements data, std::uint32_t root);

  /// Collects the parts of all ranks, in place: rank r provides the elements from `bounds[r]` to `bounds[r + 1]` of
  /// `data`, and afterwards every rank has all elements. `bounds` has size() + 1 ascending numbers from 0 to
  /// data.count; if it is empty, the parts are equal (see `equal_parts`).
  Work all_gather(Elements data, std::span<const std::uint64_t> bounds = {});

  /// Reduces the data of all ranks in place: afterwards rank r has the elements from `bounds[r]` to `bounds[r + 1]` of
  /// the result. The other elements are undefined.
  Work reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds = {});

  /// Starts a barrier, which is finished when every rank has called this.
  Work barrier();

  /// Send and receive a message between two ranks; the other ranks do not take part. The n-th send to a rank belongs to
  /// that rank's n-th receive from the sender. The counts and types on both sides must agree.
  Work send(Elements data, std::uint32_t to);
  Work recv(Elements data, std::uint32_t from);

  /// Makes as much progress as possible without waiting. Code that computes while operations are under way must call it
  /// from time to time. Throws if the group has failed.
  void progress();

  /// Makes the group fail at once because this rank cannot continue, for instance because its step threw. All other
  /// ranks get kPeerLost, which names this rank and `reason`. It does not throw, and does nothing if the group has
  /// already failed or has a single rank.
  void abort(const std::string& reason) noexcept;

  /// Returns the texts of all ranks, in the order of the ranks. The texts may differ in length and may be empty. The
  /// function waits for all ranks.
  std::vector<std::string> all_gather_texts(const std::string& text);

  /// Returns the `parts` + 1 bounds that divide `count` elements into parts of equal size, except that the last ones
  /// may be smaller or empty.
  static std::vector<std::uint64_t> equal_parts(std::uint64_t count, std::uint32_t parts);

 protected:
  /// Throws kUnsupported, with the reason, if this backend cannot work in this process. It is called before waiting for
  /// the other members, and also for a group of one.
  virtual void check() const {}

  /// Connects to the other members, of which there is at least one, and returns the parts of the backend. Throws
  /// kTimeout, naming the members that do not connect.
  virtual collectives::Backend open() = 0;

  const CollectiveContext& context() const { return context_; }

 private:
  friend class Work;
  /// Checks the request and passes it to the driver. Elements from `bounds[m]` to `bounds[m + 1]` are the part of
  /// member m.
  Work ask(collectives::Request request, Elements data, std::vector<std::uint64_t> bounds);
  std::vector<std::uint64_t> parts(std::uint64_t count, std::span<const std::uint64_t> bounds) const;
  void check_space(collectives::OperationKind kind, const Elements& data) const;
  void check_member(std::string_view what, std::uint32_t member) const;

  CollectiveContext context_;
  std::uint32_t rank_ = 0;
  std::unique_ptr<collectives::Driver> driver_;  ///< Set by connect(); null for a group of one.
};

/// Returns a text that is the same for all processes of a machine and changes when the machine is restarted. The text
/// is empty if the kernel does not provide one.
std::string host_identity();

/// Makes the collective of a group and connects it. `plugin` is a plugin with its parameters, or "auto" for the fastest
/// suitable one: shared_memory if all ranks are on one host, otherwise gloo if it is installed, otherwise zmq. Throws
/// what the plugin throws.
std::unique_ptr<Collective> make_collective(const PluginSpec& plugin, const CollectiveContext& context);

/// Makes and connects a collective of all ranks, for a component or model that exists on every rank. `name` must be
/// used only once in a run. Call it in a handler, on all ranks. Do not call it in a hook of the life cycle, because the
/// components of a process run these hooks one after another.
std::unique_ptr<Collective> make_world(const PluginContext& context, const std::string& name,
                                       const PluginSpec& plugin = {"auto"},
                                       std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace trainyard

/// Registers a collective. It is the last line of the collective's .cpp, outside of any namespace.
#define TRAINYARD_COLLECTIVE(Class, name, description) \
  TRAINYARD_PLUGIN("collective", ::trainyard::Collective, ::trainyard::CollectiveContext, Class, name, "1", description)
