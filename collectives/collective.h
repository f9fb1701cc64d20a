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

/// What a collective is made with. Every member of the group makes its own, with the same name and the same ranks.
struct CollectiveContext : PluginContext {
  std::string name;                           ///< Of the group, used once in a run: "world", "host0".
  std::vector<std::uint32_t> ranks;           ///< Of the run that belong to it, ascending; its own is among them.
  std::chrono::milliseconds timeout{60'000};  ///< How long a silent rank is waited for.
};

class Collective;

/// An operation under way. Small, made to be passed by value; may be forgotten only after wait().
class Work {
 public:
  Work() = default;
  Work(Collective& collective, std::uint64_t number) : collective_(&collective), number_(number) {}

  /// Returns when the operation has its result here. Throws kTimeout and kPeerLost naming the silent rank,
  /// kShapeMismatch naming the rank that asked for something else and what that was. Does nothing the second time.
  void wait();

  /// True if wait() would return or throw at once. Never waits, but may do some of the work.
  bool done();

 private:
  Collective* collective_ = nullptr;  ///< Null: there was nothing to do.
  std::uint64_t number_ = 0;
};

/// Operations that a group of ranks does together. All ranks of the group call the same operations in the same order,
/// with the same types and counts; if one does not, every rank gets kShapeMismatch, which says who asked for what.
///
/// Every operation is asynchronous: it returns at once, and its Work is waited for. Operations are carried out in the
/// order in which they were asked for. Nothing waits longer than the timeout of the context: a rank that is gone or
/// stopped becomes an error that names it, on every other rank. The group is of no use from then on, and every call
/// throws that error.
///
/// Results do not depend on time: the order in which ranks are added is fixed. On shared memory and over sockets it is
/// the order of the ranks for every element, whatever else is reduced with it.
///
/// Ranks are counted within the group, from 0; `ranks()` says which those are in the run. One thread calls.
///
/// This class checks what is asked for. A backend derives from it and says how the group agrees and how elements move:
/// see docs/collectives.md.
class Collective : public Configurable {
 public:
  static constexpr const char* kKind = "collective";
  using Context = CollectiveContext;

  explicit Collective(CollectiveContext& context);
  ~Collective();

  /// Connects the group; every member calls it, and returns when all have. Throws kTimeout naming those that did not
  /// come, and kUnsupported if the backend cannot work in this process.
  void connect();

  std::uint32_t rank() const { return rank_; }  ///< In the group.
  std::uint32_t size() const { return static_cast<std::uint32_t>(context_.ranks.size()); }
  const std::vector<std::uint32_t>& ranks() const { return context_.ranks; }
  const std::string& name() const { return context_.name; }

  /// True if operations of this kind may be asked for on memory of that space. Other memory is refused with
  /// kUnsupported when an operation is asked for. The default is memory of the host, shared or not.
  virtual bool serves(collectives::OperationKind kind, MemorySpace space) const;

  /// Zeroed memory on which operations need no copy, where the backend has such; otherwise any. Every member asks for
  /// the same size, in the same order, after connect(). It lives as long as the
  /// collective.
  Buffer allocate(std::size_t bytes);

  /// Says that operations will work on this memory, which has the same size at every member: a backend that can reach
  /// the other members' memory (it is `shared()`) works in place there. Every member says so in the same order.
  void use(const Buffer& memory);

  /// In place: afterwards every rank has the reduction of what all had.
  Work all_reduce(Elements data, ReduceOp op);

  /// In place: afterwards every rank has what `root` had.
  Work broadcast(Elements data, std::uint32_t root);

  /// In place: rank r has given elements `bounds[r]` to `bounds[r + 1]` of `data`; afterwards every rank has all.
  /// `bounds` has size() + 1 ascending numbers from 0 to data.count; empty: equal parts (see `equal_parts`).
  Work all_gather(Elements data, std::span<const std::uint64_t> bounds = {});

  /// In place: afterwards rank r has elements `bounds[r]` to `bounds[r + 1]` of the reduction. What the others are is
  /// undefined.
  Work reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds = {});

  /// Done when every rank has come.
  Work barrier();

  /// From one rank to another; between two ranks in the order of the calls. The others do not take part. Counts and
  /// types on both sides must agree.
  Work send(Elements data, std::uint32_t to);
  Work recv(Elements data, std::uint32_t from);

  /// Does what can be done without waiting. To be called now and then by whoever computes while operations are under
  /// way. Throws if the group has failed.
  void progress();

  /// This rank cannot go on, for instance because its step threw: the group fails at once, and all ranks, which may
  /// wait for this one, get kPeerLost with this rank and `reason`. Does not throw, and does nothing if the group has
  /// failed before or is a group of one.
  void abort(const std::string& reason) noexcept;

  /// All ranks' texts, in the order of the ranks: of any length, also of different ones, also empty. Waits.
  std::vector<std::string> all_gather_texts(const std::string& text);

  /// `parts` + 1 bounds that cut `count` elements into parts of equal size, but for the last ones.
  static std::vector<std::uint64_t> equal_parts(std::uint64_t count, std::uint32_t parts);

 protected:
  /// Throws kUnsupported, with the reason, if this backend cannot work in this process. Called before anybody is waited
  /// for, and also for a group of one.
  virtual void check() const {}

  /// Connects to the other members, of which there is at least one. Throws kTimeout naming those that do not come.
  virtual collectives::Backend open() = 0;

  const CollectiveContext& context() const { return context_; }

 private:
  friend class Work;
  /// `bounds`: size() + 1, whose part each element is.
  Work ask(collectives::Request request, Elements data, std::vector<std::uint64_t> bounds);
  std::vector<std::uint64_t> parts(std::uint64_t count, std::span<const std::uint64_t> bounds) const;
  void check_space(collectives::OperationKind kind, const Elements& data) const;
  void check_member(std::string_view what, std::uint32_t member) const;

  CollectiveContext context_;
  std::uint32_t rank_ = 0;
  std::unique_ptr<collectives::Driver> driver_;  ///< From connect() on; null for a group of one.
};

/// The same for all processes of a machine, another one after it was started again; empty if the kernel does not say.
std::string host_identity();

/// Makes the collective of a group and connects it. `plugin`: a registered name with its parameters, or "auto": the
/// fastest that serves the group, which is shared_memory where all ranks are on one host, else gloo if it is there,
/// else zmq. Throws what the plugin throws.
std::unique_ptr<Collective> make_collective(const PluginSpec& plugin, const CollectiveContext& context);

/// The same for a group of all ranks, for whoever is made once for each of them: a component, a model. To be called in
/// a handler, on all ranks, and not while the run still starts, when components come one after another.
std::unique_ptr<Collective> make_world(const PluginContext& context, const std::string& name,
                                       const PluginSpec& plugin = {"auto"},
                                       std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace trainyard

/// Registers a collective; the last line of its .cpp, inside no namespace.
#define TRAINYARD_COLLECTIVE(Class, name, description) \
  TRAINYARD_PLUGIN("collective", ::trainyard::Collective, ::trainyard::CollectiveContext, Class, name, "1", description)
