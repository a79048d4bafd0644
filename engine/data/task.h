// A task at work: its samples as batches, and how predictions on them are shown.
#pragma once

#include "engine/data/gallery.h"
#include "engine/data/loader.h"

namespace halfscope {

class Task final : public Loader {
public:
    /// A plan whose batch is the whole set keeps the stored order: every step sees the same batch.
    Task(std::shared_ptr<const Dataset>, const EpochPlan&, uint64_t seed, int workers = 0,
         Order = Order::Shuffled);

    const TaskView& view() const { return m_view; }
    /// Returns the picture of the first batch's targets.
    Picture targetPicture() const;
    /// Returns the picture of the predictions (rows, outputs) for a step's batch.
    Picture picture(std::span<const float> prediction, int64_t step) const;

    /// The samples whose classes are shown; null when galleryOf() returns none.
    const std::shared_ptr<const Gallery>& gallery() const { return m_gallery; }

private:
    TaskView m_view;
    std::shared_ptr<const Gallery> m_gallery;
};

} // namespace halfscope
