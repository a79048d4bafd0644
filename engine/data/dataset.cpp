// The tasks' data: pixel coordinates with a checkerboard or a picture as the target, and a
// regression of random targets on random inputs. Everything comes from the configuration; lanes
// share it.
#include "engine/data/dataset.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/settings/run_length.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <numeric>

namespace halfscope {

namespace {

constexpr int64_t kFeatures = 10; // inputs of the regression, as in the usual AMP benchmarks
constexpr int kScatterSide = 256;

// Numbers of the random streams; those from 2^32 on belong to the starting weights. A run has at
// most 10^9 steps, so the epochs stay below.
constexpr uint64_t kInputStream = 1;
constexpr uint64_t kTargetStream = 2;
constexpr uint64_t kShuffleStream = 16; // plus the epoch

/// A picture as a task: row p is pixel p in row-major order, inputs are (x, y) in [0, 1).
class PixelTask : public Dataset {
public:
    explicit PixelTask(Picture target) : m_target(std::move(target)) {
        require(m_target.width == m_target.height, "a task's picture is square");
    }

    BatchShape shape() const override {
        const int64_t side = m_target.width;
        return {side * side, 2, m_target.channels};
    }

    bool batch(int64_t step, std::span<float> x, std::span<float> target) const override {
        if (step > 1) return false;
        const int side = m_target.width;
        size_t at = 0;
        for (int row = 0; row < side; ++row) {
            for (int column = 0; column < side; ++column) {
                x[at++] = static_cast<float>(static_cast<double>(column) / side);
                x[at++] = static_cast<float>(static_cast<double>(row) / side);
            }
        }
        std::copy(m_target.values.begin(), m_target.values.end(), target.begin());
        return true;
    }

    Picture targetPicture() const override { return m_target; }

    Picture picture(std::span<const float> prediction, int64_t) const override {
        require(prediction.size() == m_target.values.size(), "a prediction has one row per pixel");
        return {m_target.width,
                m_target.height,
                m_target.channels,
                {prediction.begin(), prediction.end()}};
    }

private:
    Picture m_target;
};

Picture checkerboardPicture(const TaskConfig& task) {
    const int side = static_cast<int>(task.side);
    // Half of a period of 2 / frequency sides; the order of operations is part of the definition.
    std::vector<bool> odd;
    for (int at = 0; at < side; ++at)
        odd.push_back(std::fmod(at * task.frequency / side / 2, 1.0) > 0.5);
    Picture picture{side, side, 1, {}};
    picture.values.reserve(static_cast<size_t>(task.side * task.side));
    for (const bool row : odd)
        for (const bool column : odd)
            picture.values.push_back(column != row ? 1.0f : 0.0f);
    return picture;
}

/// Rings whose hue turns with the angle, on a dark ground: smooth areas and fine edges, three
/// channels that differ, and drawn for any side.
Picture ringPicture(int side) {
    Picture picture{side, side, 3, {}};
    picture.values.reserve(static_cast<size_t>(side) * static_cast<size_t>(side) * 3);
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            const double x = (column + 0.5) / side - 0.5;
            const double y = (row + 0.5) / side - 0.5;
            const double radius = std::hypot(x, y);
            const double angle = std::atan2(y, x);
            const double ring = 0.5 + 0.5 * std::cos(radius * 8 * std::numbers::pi - angle);
            const double fade = 1 / (1 + std::exp(40 * (radius - 0.46)));
            for (int channel = 0; channel < 3; ++channel) {
                const double hue = angle + channel * 2 * std::numbers::pi / 3 + 6 * radius;
                const double light = 0.12 + 0.88 * ring * (0.5 + 0.5 * std::cos(hue));
                picture.values.push_back(static_cast<float>(0.06 + 0.94 * fade * light));
            }
        }
    }
    return picture;
}

Picture imagePicture(const TaskConfig& task) {
    const int side = static_cast<int>(task.side);
    if (task.image.empty()) return ringPicture(side);
    return resized(centreSquare(readPicture(task.image)), side, side);
}

class RegressionTask : public Dataset {
public:
    explicit RegressionTask(const RunConfig& config)
        : m_task(config.task), m_plan(epochPlanOf(config)), m_seed(config.seed),
          m_inputs(static_cast<size_t>(m_task.samples * kFeatures)),
          m_targets(static_cast<size_t>(m_task.samples)),
          m_order(static_cast<size_t>(m_task.samples)) {
        Philox(m_seed, kInputStream).fillNormal(m_inputs);
        Philox(m_seed, kTargetStream).fillNormal(m_targets);
        for (float& target : m_targets) {
            target = static_cast<float>(m_task.targetSpread * double{target} + m_task.targetMean);
        }
        std::iota(m_order.begin(), m_order.end(), 0);
    }

    BatchShape shape() const override { return {m_task.batch, kFeatures, 1}; }
    int64_t stepsPerEpoch() const override { return m_plan.stepsPerEpoch(); }
    int64_t rows(int64_t step) const override { return m_plan.rowsOf(step); }

    bool batch(int64_t step, std::span<float> x, std::span<float> target) const override {
        if (wholeSet() && step > 1) return false;
        const std::vector<int32_t> rows = rowsOf(step);
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto row = static_cast<size_t>(rows[i]);
            std::copy_n(m_inputs.begin() + static_cast<std::ptrdiff_t>(row * kFeatures), kFeatures,
                        x.begin() + static_cast<std::ptrdiff_t>(i * kFeatures));
            target[i] = m_targets[row];
        }
        return true;
    }

    Picture targetPicture() const override {
        std::vector<float> targets;
        for (const int32_t row : rowsOf(1))
            targets.push_back(m_targets[static_cast<size_t>(row)]);
        return picture(targets, 1);
    }

    Picture picture(std::span<const float> prediction, int64_t step) const override {
        constexpr size_t kPixels = size_t{kScatterSide} * kScatterSide;
        constexpr float kLine = 0.7f;
        Picture scatter{kScatterSide, kScatterSide, 1, std::vector<float>(kPixels, 1.0f)};
        for (int at = 0; at < kScatterSide; ++at)
            pixel(scatter, at, at) = kLine;
        const std::vector<int32_t> rows = rowsOf(step);
        for (size_t i = 0; i < std::min(rows.size(), prediction.size()); ++i) {
            drawPoint(scatter, m_targets[static_cast<size_t>(rows[i])], prediction[i]);
        }
        return scatter;
    }

private:
    bool wholeSet() const { return m_task.batch == m_task.samples; }

    /// The samples of a step's batch.
    std::vector<int32_t> rowsOf(int64_t step) const {
        step = std::max<int64_t>(step, 1);
        const int64_t epoch = m_plan.epochOf(step) - 1;
        const std::lock_guard lock(m_mutex);
        if (!wholeSet() && m_epoch != epoch) {
            m_epoch = epoch;
            std::iota(m_order.begin(), m_order.end(), 0);
            shuffle(m_order, Philox(m_seed, kShuffleStream + static_cast<uint64_t>(m_epoch)));
        }
        const auto first = m_order.begin() + m_plan.firstOf(step);
        return {first, first + m_plan.rowsOf(step)};
    }

    /// Column of a value, or row from the bottom: mean - 4 spread to mean + 4 spread over the side.
    int place(double value) const {
        const double reach = m_task.targetSpread > 0 ? 4 * m_task.targetSpread : 1;
        const double share = (value - m_task.targetMean + reach) / (2 * reach);
        return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (kScatterSide - 1)));
    }

    static float& pixel(Picture& picture, int column, int rowFromBottom) {
        const int row = kScatterSide - 1 - rowFromBottom;
        return picture.values[static_cast<size_t>(row * kScatterSide + column)];
    }

    /// Three pixels wide; a prediction outside lies on the edge, nan is a nan on the lower edge,
    /// which files and windows draw in magenta.
    void drawPoint(Picture& scatter, float target, float prediction) const {
        constexpr float kPoint = 0.1f;
        const bool missing = std::isnan(prediction);
        const int column = place(double{target});
        const int row = missing ? 0 : place(double{prediction});
        for (int y = std::max(row - 1, 0); y <= std::min(row + 1, kScatterSide - 1); ++y) {
            for (int x = std::max(column - 1, 0); x <= std::min(column + 1, kScatterSide - 1);
                 ++x) {
                pixel(scatter, x, y) = missing ? std::nanf("") : kPoint;
            }
        }
    }

    TaskConfig m_task;
    EpochPlan m_plan;
    uint64_t m_seed;
    std::vector<float> m_inputs;  ///< (samples, kFeatures)
    std::vector<float> m_targets; ///< (samples)
    mutable std::mutex m_mutex;   ///< the order is a cache: lanes may run side by side
    mutable std::vector<int32_t> m_order;
    mutable int64_t m_epoch = -1;
};

} // namespace

std::unique_ptr<Dataset> makeDataset(const RunConfig& config) {
    switch (config.task.kind) {
    case TaskKind::Checkerboard:
        return std::make_unique<PixelTask>(checkerboardPicture(config.task));
    case TaskKind::Image: return std::make_unique<PixelTask>(imagePicture(config.task));
    case TaskKind::Regression: return std::make_unique<RegressionTask>(config);
    }
    failInvariant("a task kind without a data set");
}

} // namespace halfscope
