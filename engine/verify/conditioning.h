// How well a recorded training is posed in float32. One unit that switches on or off within a
// rounding of zero, or the sign of a sum that cancels, moves what follows by more than the bound,
// whoever computes it. So where float32 leaves the bound, float64 is asked: the same training,
// rounded to what float32 has to store, in other ways each time. What leaves the bound there too,
// float32 cannot decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace halfscope::recorded {

using Trace = std::vector<std::vector<double>>; ///< [step][value]; every step has as many

/// One more training, to be compared with float64's.
struct Compared {
    Trace values;
    double bound = 0; ///< of deviations where rounding does not matter
    double unit = 1;  ///< its roundings, in those of float32: kFloat64Unit where it is in float64
};
inline constexpr double kFloat64Unit = 0x1p-29;

struct Place {
    size_t step = 0, value = 0;
};

/// A training in float64, and again with roundings.
struct Conditioning {
    Trace exact;
    Trace magnitude; ///< what deviations are relative to
    /// The first steps of the training with other roundings for each seed; called by several
    /// threads at once.
    std::function<Trace(uint64_t seed, size_t steps)> draw;
    /// How many are tried before a case counts as decided: of some 200 ill-posed ones 6 told all
    /// but six, and 16 all.
    uint64_t draws = 24;
    size_t bytes = 0; ///< of memory that a draw takes: as many run at once as 2 GiB hold
};

/// What float32 may differ by, in units of the most that the rounded trainings did up to that step:
/// two that part at the same place go apart at rates that differ.
inline constexpr double kNoiseFreedom = 2;

struct Verdict {
    /// Where ours or the file's leaves its bound first, if rounding explains all such places.
    std::optional<Place> undecided;
    double moved = 0; ///< what rounding alone does there, relatively; inf: to nan or inf
    /// Else, where rounding does not explain the file's.
    std::optional<Place> wrongFile;
};
Verdict judgeByRounding(const Conditioning&, const Compared& ours, const Compared& file);

/// Why a case is ill-posed: "cannot be decided in float32 from step 3 on: even float64 is …".
std::string undecidedText(const std::string& place, const Verdict&, double bound);
std::string undecidedHalfText(const std::string& place, const Verdict&, double bound);

} // namespace halfscope::recorded
