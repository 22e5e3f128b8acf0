#pragma once
// How a program that must not go on is ended: asked, then killed, then given up. In the caller's time, without signals.

#include <chrono>

namespace perfcast {

class Ending {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kGrace = std::chrono::milliseconds(700);        // between being asked and the first SIGKILL
  static constexpr auto kAgain = std::chrono::milliseconds(100);        // between two
  static constexpr auto kPatience = std::chrono::milliseconds(10'000);  // after the first, until nobody waits any more

  // The program was asked to end at `now`. Asked again, it is not granted the rest of its grace.
  void ask(Clock::time_point now) { due_ = asked() ? (killed() ? due_ : now) : now + kGrace; }
  bool asked() const { return due_ != Clock::time_point::max(); }

  enum class Step { kWait, kKill, kGiveUp };
  // What is due at `now`. A process in a wait that no signal ends (a dead network file system) outlives SIGKILL.
  Step step(Clock::time_point now) {
    if (now < due_) return Step::kWait;
    if (killed() && now >= first_kill_ + kPatience) return Step::kGiveUp;
    if (!killed()) first_kill_ = now;
    due_ = now + kAgain;
    return Step::kKill;
  }
  Clock::time_point due() const { return due_; }  // of the next step; max() before it was asked

 private:
  bool killed() const { return first_kill_ != Clock::time_point::max(); }

  Clock::time_point due_ = Clock::time_point::max(), first_kill_ = Clock::time_point::max();
};

}  // namespace perfcast
