// Tasks as data: what a step sees. Every lane sees the same batches, from the seed alone.
#pragma once

#include "engine/data/epochs.h"
#include "engine/io/picture.h"
#include "engine/settings/run_config.h"

#include <cstdint>
#include <memory>
#include <span>

namespace halfscope {

/// The shapes of one step's batch: x (rows, inputs), target (rows, outputs), F32.
struct BatchShape {
    int64_t rows = 0, inputs = 0, outputs = 0;
};

class Dataset {
public:
    virtual ~Dataset() = default;
    /// Of a whole batch.
    virtual BatchShape shape() const = 0;
    virtual int64_t stepsPerEpoch() const { return 1; }
    /// Of a step's batch; fewer than in shape() in the last one of an epoch.
    virtual int64_t rows(int64_t /*step*/) const { return shape().rows; }
    /// Fills the batch of step `step` (1 for the first). Returns false when it is the same as the
    /// step before, so that nothing needs uploading.
    virtual bool batch(int64_t step, std::span<float> x, std::span<float> target) const = 0;
    /// The target as a picture (pictures: the target; regression: predictions against targets, see
    /// below).
    virtual Picture targetPicture() const = 0;
    /// A prediction (rows, outputs) as a picture to show and to save. For regression: a scatter
    /// picture, target to the right, prediction upwards, the ideal as the diagonal.
    virtual Picture picture(std::span<const float> prediction, int64_t step) const = 0;
};

/// InputError when the picture file cannot be used.
std::unique_ptr<Dataset> makeDataset(const RunConfig&);

} // namespace halfscope
