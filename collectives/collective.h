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

/// What a collective is constructed with. Every member of the group constructs its own, with the same name and the same
/// ranks.
struct CollectiveContext : PluginContext {
  std::string name;  ///< The name of the group, used once in a run, such as "world" or "host0".
  /// The ranks of the run that belong to the group, ascending; the member's own rank is among them.
  std::vector<std::uint32_t> ranks;
  std::chrono::milliseconds timeout{60'000};  ///< How long a silent rank is waited for.
};

class Collective;

/// An operation under way. It is small and meant to be passed by value. It may be discarded only after wait().
class Work {
 public:
  Work() = default;
  Work(Collective& collective, std::uint64_t number) : collective_(&collective), number_(number) {}

  /// Waits until the operation has its result here. A second call does nothing. Throws kTimeout and kPeerLost, naming
  /// the silent rank, and kShapeMismatch, naming the rank that asked for something else and what that was.
  void wait();

  /// True if wait() would return or throw at once. It never waits, but may do some of the work.
  bool done();

 private:
  Collective* collective_ = nullptr;  ///< Null if there was nothing to do.
  std::uint64_t number_ = 0;
};

/// Operations that a group of ranks does together. All ranks of the group call the same operations in the same order,
/// with the same types and counts. If one does not, every rank gets kShapeMismatch, which says who asked for what.
///
/// Every operation is asynchronous: it returns at once, and the caller waits for its Work. Operations are carried out
/// in the order in which they were asked for. Nothing waits longer than the timeout of the context: a rank that is gone
/// or stopped becomes an error that names it, on every other rank. From then on the group cannot be used, and every
/// call throws that error.
///
/// Results do not depend on time, because the order in which ranks are added is fixed. On shared memory and over
/// sockets it is the order of the ranks for every element, whatever else is reduced with it.
///
/// Ranks are counted within the group, from 0, and are then called members; `ranks()` says which ranks of the run they
/// are. One thread calls a collective.
///
/// This class checks what is asked for. A backend derives from it and says how the group agrees and how elements move;
/// see docs/collectives.md.
class Collective : public Configurable {
 public:
  static constexpr const char* kKind = "collective";
  using Context = CollectiveContext;

  explicit Collective(CollectiveContext& context);
  ~Collective();

  /// Connects the group. Every member calls it, and it returns when all have. Throws kTimeout, naming those that did
  /// not come, and kUnsupported if the backend cannot work in this process.
  void connect();

  std::uint32_t rank() const { return rank_; }  ///< The rank within the group.
  std::uint32_t size() const { return static_cast<std::uint32_t>(context_.ranks.size()); }
  const std::vector<std::uint32_t>& ranks() const { return context_.ranks; }
  const std::string& name() const { return context_.name; }

  /// True if operations of this kind may be asked for on memory of that space. Other memory is refused with
  /// kUnsupported when an operation is asked for. By default, memory of the host is accepted, shared or not.
  virtual bool serves(collectives::OperationKind kind, MemorySpace space) const;

  /// Zeroed memory on which operations need no copy, if the backend has such memory, otherwise any zeroed memory. Every
  /// member asks for the same size, in the same order, after connect(). The memory lives as long as the collective.
  Buffer allocate(std::size_t bytes);

  /// Announces that operations will work on this memory, which has the same size at every member. A backend that can
  /// reach the other members' memory (if it is `shared()`) works in place there. Every member announces its memory in
  /// the same order.
  void use(const Buffer& memory);

  /// Works in place: afterwards every rank has the reduction of what all ranks had.
  Work all_reduce(Elements data, ReduceOp op);

  /// Works in place: afterwards every rank has what `root` had.
  Work broadcast(Elements data, std::uint32_t root);

  /// Works in place: rank r provides the elements from `bounds[r]` to `bounds[r + 1]` of `data`, and afterwards every
  /// rank has all. `bounds` has size() + 1 ascending numbers from 0 to data.count; if it is empty, the parts are equal
  /// (see `equal_parts`).
  Work all_gather(Elements data, std::span<const std::uint64_t> bounds = {});

  /// Works in place: afterwards rank r has the elements from `bounds[r]` to `bounds[r + 1]` of the reduction. The other
  /// elements are undefined.
  Work reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds = {});

  /// The operation is finished when every rank has called this.
  Work barrier();

  /// Send and receive a message between two ranks; messages in one direction are matched in the order of the calls. The
  /// other ranks do not take part. The counts and types on both sides must agree.
  Work send(Elements data, std::uint32_t to);
  Work recv(Elements data, std::uint32_t from);

  /// Does what can be done without waiting. It must be called now and then by code that computes while operations are
  /// under way. Throws if the group has failed.
  void progress();

  /// Makes the group fail at once because this rank cannot go on, for instance because its step threw. All ranks, which
  /// may wait for this one, get kPeerLost with this rank and `reason`. It does not throw, and does nothing if the group
  /// has failed before or has a single rank.
  void abort(const std::string& reason) noexcept;

  /// All ranks' texts, in the order of the ranks. They may have any length, different lengths, or be empty. It waits.
  std::vector<std::string> all_gather_texts(const std::string& text);

  /// The `parts` + 1 bounds that cut `count` elements into parts of equal size, except for the last ones.
  static std::vector<std::uint64_t> equal_parts(std::uint64_t count, std::uint32_t parts);

 protected:
  /// Throws kUnsupported, with the reason, if this backend cannot work in this process. It is called before anybody is
  /// waited for, and also for a group of one.
  virtual void check() const {}

  /// Connects to the other members, of which there is at least one. Throws kTimeout, naming those that do not come.
  virtual collectives::Backend open() = 0;

  const CollectiveContext& context() const { return context_; }

 private:
  friend class Work;
  /// `bounds` has size() + 1 numbers that say whose part each element is.
  Work ask(collectives::Request request, Elements data, std::vector<std::uint64_t> bounds);
  std::vector<std::uint64_t> parts(std::uint64_t count, std::span<const std::uint64_t> bounds) const;
  void check_space(collectives::OperationKind kind, const Elements& data) const;
  void check_member(std::string_view what, std::uint32_t member) const;

  CollectiveContext context_;
  std::uint32_t rank_ = 0;
  std::unique_ptr<collectives::Driver> driver_;  ///< Set by connect(); null for a group of one.
};

/// A text that is the same for all processes of a machine and changes when the machine is restarted. It is empty if the
/// kernel does not provide one.
std::string host_identity();

/// Makes the collective of a group and connects it. `plugin` is a registered name with its parameters, or "auto" for
/// the fastest one that serves the group: shared_memory if all ranks are on one host, otherwise gloo if it is there,
/// otherwise zmq. Throws what the plugin throws.
std::unique_ptr<Collective> make_collective(const PluginSpec& plugin, const CollectiveContext& context);

/// Does the same for a group of all ranks. It is for a component or model of which every rank has one. It must be
/// called in a handler, on all ranks, and not during the start of the run, when components come one after another.
std::unique_ptr<Collective> make_world(const PluginContext& context, const std::string& name,
                                       const PluginSpec& plugin = {"auto"},
                                       std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace trainyard

/// Registers a collective. It is the last line of the collective's .cpp, outside of any namespace.
#define TRAINYARD_COLLECTIVE(Class, name, description) \
  TRAINYARD_PLUGIN("collective", ::trainyard::Collective, ::trainyard::CollectiveContext, Class, name, "1", description)
