// Puts the loader and the view together.
#include "engine/data/task.h"

namespace halfscope {

Task::Task(std::shared_ptr<const Dataset> dataset, const EpochPlan& plan, uint64_t seed,
           int workers, Order order)
    : Loader(std::move(dataset), plan,
             Sampler(plan.samples, seed, plan.batch == plan.samples ? Order::AsStored : order),
             workers),
      m_view(Loader::dataset().view()), m_gallery(galleryOf(Loader::dataset())) {}

Picture Task::targetPicture() const { return targetPictureOf(m_view, *load(1)); }

Picture Task::picture(std::span<const float> prediction, int64_t step) const {
    return pictureOf(m_view, *load(std::max<int64_t>(step, 1)), prediction);
}

} // namespace halfscope
