// Looks at files from first to last with equal steps in between: those of a class lie together.
#include "engine/data/picture_side.h"

#include "engine/data/dataset.h"
#include "engine/data/picture_samples.h"
#include "engine/io/picture_size.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace halfscope {

int64_t sideOfPictures(const TaskConfig& task) {
    constexpr size_t kLooks = 64;
    constexpr int64_t kLeastSide = 4; // of the setting
    const std::unique_ptr<Dataset> data = makeDataset(task, 0);
    const std::vector<std::string> files = data->files();
    const size_t step = std::max<size_t>(files.size() / kLooks, 1);
    std::vector<int64_t> sides;
    for (size_t i = 0; i < files.size(); i += step)
        if (const auto size = isPictureName(files[i]) ? pictureSize(files[i]) : std::nullopt)
            sides.push_back(std::min(size->width, size->height));
    if (sides.empty()) return task.pictureSide;
    const auto middle = sides.begin() + static_cast<std::ptrdiff_t>(sides.size() / 2);
    std::ranges::nth_element(sides, middle);
    return std::clamp(*middle, kLeastSide, task.pictureSide);
}

} // namespace halfscope
