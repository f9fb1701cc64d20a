// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <mutex>

namespace trainyard {

/// Gives each rank its own sequence of random numbers if several ranks share a process. LibTorch has only one CPU
/// generator per process. If ranks that are threads of one process drew from it in whatever order they happened to run,
/// no run could be repeated. Each rank therefore has its own state, which it puts into the generator while it draws,
/// and only one rank at a time runs a forward or backward pass that draws random numbers.
///
/// A rank that is alone in its process has no overhead. A rank whose model has drawn no random numbers in its first
/// three passes is assumed never to draw, and no longer waits for the other ranks.
class RankGenerator {
 public:
  /// Adds this rank to the ranks of the process. Every rank of the process must have constructed its RankGenerator
  /// before the first rank draws.
  RankGenerator();
  ~RankGenerator();
  RankGenerator(const RankGenerator&) = delete;
  RankGenerator& operator=(const RankGenerator&) = delete;

  /// Returns a lock that keeps the other ranks of the process away from LibTorch's generator. It must be held while the
  /// generator is seeded, restored or otherwise used.
  std::unique_lock<std::mutex> hold() const;

  /// Makes the current state of LibTorch's generator the state of the rank's own sequence. The caller must hold the
  /// lock from hold().
  void adopt();

  /// Puts the state of the rank's own sequence into LibTorch's generator. Does nothing if the rank is alone in its
  /// process or adopt() was never called. The caller must hold the lock from hold().
  void install() const;

  /// A scope in which the current thread draws from the rank's own sequence. Other ranks that draw wait until the scope
  /// ends. A Turn itself holds the lock from hold(), so the caller must not hold it. A Turn does nothing if the rank is
  /// alone in its process, if adopt() was never called, or if the rank is assumed never to draw.
  class Turn {
   public:
    explicit Turn(RankGenerator& generator);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    RankGenerator* generator_ = nullptr;  ///< Null if the Turn does nothing.
    std::unique_lock<std::mutex> lock_;
  };

 private:
  bool takes_turns() const;

  at::Tensor state_;    ///< The state of the rank's sequence; undefined before adopt().
  int idle_turns_ = 0;  ///< The number of turns without a draw; a large negative number once the rank has drawn.
};

}  // namespace trainyard
