// Tells how well a recorded training is posed in float32. A unit that switches on or off within a
// rounding of zero, or the sign of a sum that cancels, moves all that follows by more than the
// bound, whoever computes it. Where float32 leaves the bound, float64 is asked: the same training,
// rounded to what float32 has to store, in different ways each time. If that leaves the bound too,
// float32 cannot decide the case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace halfscope::recorded {

using Trace = std::vector<std::vector<double>>; ///< [step][value]; all steps have the same number
                                                ///< of values

/// A training to be compared with the one in float64.
struct Compared {
    Trace values;
    double bound = 0; ///< of deviations, when rounding does not matter
    double unit = 1;  ///< size of its roundings relative to float32's: kFloat64Unit when it is in
                      ///< float64
};
inline constexpr double kFloat64Unit = 0x1p-29;

struct Place {
    size_t step = 0, value = 0;
};

/// A training in float64, and the same training with roundings.
struct Conditioning {
    Trace exact;
    Trace magnitude; ///< what deviations are relative to
    /// Returns the first steps of the training with different roundings for each seed; called by
    /// several threads at once.
    std::function<Trace(uint64_t seed, size_t steps)> draw;
    /// How many draws are tried before a case counts as decided. Of about 200 ill-posed cases, 6
    /// draws found all but six, and 16 draws found all.
    uint64_t draws = 24;
    size_t bytes = 0; ///< memory that one draw takes: as many draws run at once as 2 GiB hold
};

/// How far float32 may deviate, as a multiple of the largest deviation that the rounded trainings
/// had up to that step: two that part at the same place go apart at different rates.
inline constexpr double kNoiseFreedom = 2;

struct Verdict {
    /// The first place where ours or the file's leaves its bound, if rounding explains all such
    /// places.
    std::optional<Place> undecided;
    double moved = 0; ///< relative change that rounding alone makes there; inf when it becomes nan
                      ///< or inf
    /// The first place of the file that rounding does not explain, if there is one.
    std::optional<Place> wrongFile;
};
Verdict judgeByRounding(const Conditioning&, const Compared& ours, const Compared& file);

/// Returns why a case is ill-posed: "cannot be decided in float32 from step 3 on: even float64 is
/// …".
std::string undecidedText(const std::string& place, const Verdict&, double bound);
std::string undecidedHalfText(const std::string& place, const Verdict&, double bound);

} // namespace halfscope::recorded
