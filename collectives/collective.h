#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/buffer.h"
#include "messages/dtype.h"

namespace trainyard {

/// What a collective is made with. Every member of the group makes its own, with the same name and the same ranks.
struct CollectiveContext : PluginContext {
  std::string name;                           ///< Of the group, used once in a run: "world", "host0".
  std::vector<std::uint32_t> ranks;           ///< Of the run that belong to it, ascending; its own is among them.
  std::chrono::milliseconds timeout{60'000};  ///< How long a silent rank is waited for.
};

enum class ReduceOp : std::uint8_t { kSum, kMean, kMin, kMax, kProduct };
/// "sum", "mean", ...
std::string_view name_of(ReduceOp op);

/// A run of elements in host memory that an operation works on. It must stay, and must not be touched, until the
/// operation has been waited for.
struct Elements {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::uint64_t count = 0;

  std::uint64_t bytes() const { return count * size_of(dtype); }
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

  /// True if wait() would return at once. Never waits, but may do some of the work.
  bool done();

 private:
  Collective* collective_ = nullptr;  ///< Null: there was nothing to do.
  std::uint64_t number_ = 0;
};

/// Operations that a group of ranks does together. All ranks of the group call the same operations in the same order,
/// with the same types and counts; one that does not is told so (kShapeMismatch), as far as the backend can see it.
///
/// Every operation is asynchronous: it returns at once, and its Work is waited for. Operations are carried out in the
/// order in which they were asked for. Nothing waits longer than the timeout of the context: a rank that is gone or
/// stopped becomes an error that names it, on every other rank, and the group is of no use from then on.
///
/// Results do not depend on time: the order in which ranks are added is fixed. On shared memory it is the order of the
/// ranks for every element, whatever else is reduced with it.
///
/// Ranks are counted within the group, from 0; `ranks()` says which those are in the run. One thread calls.
class Collective : public Configurable {
 public:
  static constexpr const char* kKind = "collective";
  using Context = CollectiveContext;

  explicit Collective(CollectiveContext& context);

  /// Connects the group; every member calls it, and all of them must. Throws kTimeout naming those that did not come.
  virtual void connect() = 0;

  std::uint32_t rank() const { return rank_; }  ///< In the group.
  std::uint32_t size() const { return static_cast<std::uint32_t>(context_.ranks.size()); }
  const std::vector<std::uint32_t>& ranks() const { return context_.ranks; }
  const std::string& name() const { return context_.name; }

  /// Zeroed memory on which operations need no copy, where the backend has such; else any. Every member asks for as
  /// much, in the same order. To be asked for after connect(); lives as long as the collective.
  virtual Buffer allocate(std::size_t bytes);

  /// Tells that operations will work on this memory, which has the same size at every member: a backend for which
  /// others can reach it (it is `shared()`) works in place there. Every member tells in the same order.
  virtual void use(const Buffer& memory);

  /// In place: afterwards every rank has the reduction of what all had.
  virtual Work all_reduce(Elements data, ReduceOp op) = 0;

  /// In place: afterwards every rank has what `root` had.
  virtual Work broadcast(Elements data, std::uint32_t root) = 0;

  /// In place: rank r has given elements `bounds[r]` to `bounds[r + 1]` of `data`; afterwards every rank has all.
  /// `bounds` has size() + 1 ascending numbers from 0 to data.count; empty: equal parts (see `equal_parts`).
  virtual Work all_gather(Elements data, std::span<const std::uint64_t> bounds = {}) = 0;

  /// In place: afterwards rank r has elements `bounds[r]` to `bounds[r + 1]` of the reduction. What the others are is
  /// undefined.
  virtual Work reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds = {}) = 0;

  /// Done when every rank has come.
  virtual Work barrier() = 0;

  /// From one rank to another; between two ranks in the order of the calls. The others do not take part. Counts and
  /// types on both sides must agree.
  virtual Work send(Elements data, std::uint32_t to) = 0;
  virtual Work recv(Elements data, std::uint32_t from) = 0;

  /// Does what can be done without waiting. To be called now and then by whoever computes while operations are under
  /// way.
  virtual void progress() {}

  /// All ranks' texts, in the order of the ranks: of any length, also of different ones, also empty. Waits.
  std::vector<std::string> all_gather_texts(const std::string& text);

  /// `parts` + 1 bounds that cut `count` elements into parts of equal size, but for the last ones.
  static std::vector<std::uint64_t> equal_parts(std::uint64_t count, std::uint32_t parts);

 protected:
  friend class Work;
  /// For Work: operations are numbered by the backend as it likes.
  virtual void wait(std::uint64_t number) = 0;
  virtual bool done(std::uint64_t number) = 0;

  const CollectiveContext& context() const { return context_; }
  /// "rank 2" of the run for member number `member`.
  std::string member_name(std::uint32_t member) const;
  /// Throws kInvalidArgument for bounds that do not cut `count` elements into size() parts.
  void check_bounds(std::uint64_t count, std::span<const std::uint64_t> bounds) const;

 private:
  CollectiveContext context_;
  std::uint32_t rank_ = 0;
};

inline void Work::wait() {
  if (collective_ != nullptr) std::exchange(collective_, nullptr)->wait(number_);
}
inline bool Work::done() { return collective_ == nullptr || collective_->done(number_); }

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
