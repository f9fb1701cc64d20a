#pragma once

#include <ATen/core/Tensor.h>

#include <mutex>

namespace trainyard {

/// Random numbers of a rank that shares its process with others. LibTorch has one generator for the CPU in a process;
/// ranks that are threads of it would draw from it as they happen to come, and no run would be like another. So each
/// has a sequence of its own, and they take turns in the passes that draw.
///
/// A rank that is alone in its process pays nothing. One whose model has drawn nothing in its first passes is taken not
/// to draw, and waits for nobody from then on.
class RankGenerator {
 public:
  /// One lives for each rank; made before the first of them draws.
  RankGenerator();
  ~RankGenerator();
  RankGenerator(const RankGenerator&) = delete;
  RankGenerator& operator=(const RankGenerator&) = delete;

  /// Keeps other ranks of the process from the generator, whatever is done with it meanwhile: seeded, restored.
  std::unique_lock<std::mutex> hold() const;

  /// What the generator holds now is where the rank's own sequence goes on. To be called under hold().
  void adopt();

  /// The inverse: the generator holds the rank's own sequence. To be called under hold().
  void install() const;

  /// While it lives, this thread draws from the rank's sequence.
  class Turn {
   public:
    explicit Turn(RankGenerator& generator);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    RankGenerator* generator_ = nullptr;  ///< Null: nothing to do.
    std::unique_lock<std::mutex> lock_;
  };

 private:
  bool takes_turns() const;

  at::Tensor state_;    ///< Of the rank's sequence; undefined before adopt().
  int idle_turns_ = 0;  ///< In a row, without a draw, from the first one on.
};

}  // namespace trainyard
