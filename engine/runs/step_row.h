// What one step of one lane reports: a slot for each known metric, and flags.
#pragma once

#include "engine/runs/metrics.h"

#include <array>
#include <bit>
#include <cstdint>

namespace halfscope {

enum StepFlag : uint32_t {
    kSkipped = 1,        ///< a gradient was not finite: the optimizer did not step
    kGrew = 2,           ///< the scale grew after this step
    kBackedOff = 4,      ///< the scale fell after this step
    kLossNotFinite = 8,  ///< the loss itself was inf or nan: no scale can fix that
    kAtFloor = 16,       ///< skipped with the scale at its floor, in a lane that asks to stop there
    kFirstStepped = 32,  ///< skipped by the second of two optimizers only
    kSecondStepped = 64, ///< skipped by the first of two optimizers only
    kSteppedOnOverflow = 128, ///< a gradient was not finite, and the lane asks to step all the same
};

/// Returns the flag of a metric that is one, or 0.
constexpr uint32_t flagOf(MetricId id) {
    switch (id) {
    case metric::Skipped: return kSkipped;
    case metric::Grew: return kGrew;
    case metric::BackedOff: return kBackedOff;
    case metric::LossNotFinite: return kLossNotFinite;
    default: return 0;
    }
}

/// `row[metric::Loss]` reads any metric and `row.set(metric::Loss, x)` writes it; the names below
/// are short forms. Float32 values and whole numbers up to 2^53 read back unchanged.
class StepRow {
public:
    StepRow() = default;
    StepRow(int64_t stepNumber, int32_t laneIndex) : step(stepNumber), lane(laneIndex) {}

    int64_t step = 0; ///< 1 for the first
    int32_t lane = 0;

    /// Returns 0 for what was not measured, and 1 for a scale that was not.
    double operator[](MetricId id) const {
        const uint32_t flag = flagOf(id);
        return flag != 0 ? double(has(flag)) : m_values[static_cast<size_t>(id)];
    }
    StepRow& set(MetricId id, double value) {
        m_measured |= uint32_t{1} << id;
        if (const uint32_t flag = flagOf(id); flag != 0)
            m_flags = value != 0 ? m_flags | flag : m_flags & ~flag;
        else
            m_values[static_cast<size_t>(id)] = value;
        return *this;
    }
    StepRow& set(MetricId id, float value) { return set(id, double{value}); }
    StepRow& set(MetricId id, int64_t value) { return set(id, static_cast<double>(value)); }
    bool measured(MetricId id) const { return (m_measured >> id & 1) != 0; }

    /// StepFlags. Setting them marks the four that are metrics as measured.
    uint32_t flags() const { return m_flags; }
    bool has(uint32_t flag) const { return (m_flags & flag) != 0; }
    StepRow& setFlags(uint32_t flags) {
        m_flags = flags;
        constexpr uint32_t kFour = 0b1111u << metric::Skipped;
        m_measured |= kFour;
        return *this;
    }

    float loss() const { return real(metric::Loss); }   ///< unscaled
    float scale() const { return real(metric::Scale); } ///< the loss scale that this step used
    int64_t growthTracker() const { return whole(metric::GrowthTracker); } ///< after the step
    float learningRate() const { return real(metric::LearningRate); }
    /// The L2 norm of all unscaled gradients; not finite on an overflow.
    float gradientNorm() const { return real(metric::GradientNorm); }
    int64_t skippedSoFar() const { return whole(metric::SkippedSoFar); }
    /// The time of this lane's step on its device.
    double deviceSeconds() const { return (*this)[metric::DeviceSeconds]; }
    /// The time since the experiment started, without pauses.
    double wallSeconds() const { return (*this)[metric::WallSeconds]; }

private:
    float real(MetricId id) const { return static_cast<float>(m_values[static_cast<size_t>(id)]); }
    int64_t whole(MetricId id) const {
        return static_cast<int64_t>(m_values[static_cast<size_t>(id)]);
    }
    static constexpr std::array<double, metric::kKnown> kUnmeasured = [] {
        std::array<double, metric::kKnown> values{};
        values[metric::Scale] = 1;
        return values;
    }();

    uint32_t m_flags = 0;
    uint32_t m_measured = 0; ///< one bit per metric
    static_assert(metric::kKnown <= 32, "a wider mask is needed");
    std::array<double, metric::kKnown> m_values = kUnmeasured;
};

static_assert(metric::LossNotFinite == metric::Skipped + 3, "setFlags() counts on it");

} // namespace halfscope
