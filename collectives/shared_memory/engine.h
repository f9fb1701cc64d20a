#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "collectives/shared_memory/ways.h"

namespace trainyard::shared_memory {

/// The operations of one member that are under way, in the order in which they were asked for. Collective ones are
/// carried out in that order; so are the messages to one member and those from one member. One that would touch memory
/// of an earlier one waits for that.
///
/// After an error nothing works any more: every call throws what the first one threw.
class Engine {
 public:
  struct Settings {
    std::string where;                 ///< Errors begin with it.
    std::vector<std::uint32_t> ranks;  ///< In the run, by member.
    std::chrono::milliseconds timeout;
    std::chrono::microseconds spin;  ///< How long a waiting member looks before it sleeps.
    std::uint64_t chunk_bytes;       ///< Of operations in place.
  };

  Engine(Group& group, const Blocks& blocks, Settings settings);

  /// Takes an operation and returns its number; request, data, peer, bounds and reduce are given.
  std::uint64_t ask(Operation operation);

  /// What can be done without waiting; of work that members share no more than this one's part.
  void progress();
  bool done(std::uint64_t number);
  void wait(std::uint64_t number);

  /// Breaks the group: the others are told, and this and every later call throws.
  [[noreturn]] void fail(Code code, const std::string& text);
  void throw_if_broken() const;

 private:
  using Clock = std::chrono::steady_clock;

  // engine.cpp
  Operation* find(std::uint64_t number);
  bool finished(std::uint64_t number) { return find(number) == nullptr; }
  /// `everything`: also what others could do.
  bool advance(bool everything);
  bool advance_collective(Operation& operation, bool everything);
  bool advance_message(Operation& operation);
  bool publish(Operation& operation);
  bool fits_slot(const Descriptor& descriptor) const;
  void meet(Operation& operation);
  void compare(const Operation& operation);
  bool find_places(Operation& operation);
  const Operation* obstacle(const Operation& operation) const;
  std::size_t queue_of(const Operation& operation) const;
  void forget_finished();

  // waiting.cpp
  struct Rest;
  void rest(Rest& rest, std::uint64_t number);
  void sleep();
  void look(Operation& operation);
  Need need_of(const Operation& head) const;
  const Operation& stuck(const Operation& operation) const;
  std::vector<std::uint32_t> missing(const Operation& operation) const;
  std::uint64_t signs_of_life(const Operation& operation, const std::vector<std::uint32_t>& members) const;
  std::uint32_t culprit(std::uint32_t silent) const;
  void take_over_failure();
  std::string rank_name(std::uint32_t member) const;
  std::string name_of(const Operation& operation) const;

  Group& group_;
  const Blocks& blocks_;
  Settings settings_;
  std::deque<Operation> operations_;  ///< Ascending by number, without a gap; the first one is not finished.
  std::uint64_t last_number_ = 0;
  std::vector<std::uint64_t> last_sequences_;  ///< By queue.
  std::vector<char> occupied_;                 ///< By queue, during advance(): its first one is not finished.
  std::uint64_t all_done_ = 0;                 ///< Collective operations that all members were seen to have finished.
  Clock::time_point last_look_{};
  std::optional<Error> broken_;
};

}  // namespace trainyard::shared_memory
