// Scores come from the probes of the lanes.
#include "engine/train/lane_gallery.h"

namespace halfscope {

std::optional<std::vector<Picture>> lanesGallery(const Gallery& gallery, const TaskView& view,
                                                 std::span<const std::unique_ptr<Trainer>> lanes,
                                                 const std::atomic<bool>& stop) {
    std::vector<Picture> pictures;
    std::vector<int32_t> first; // what lane A has written
    const bool leftOver = stop;
    for (const auto& lane : lanes) {
        const auto scores = lane->probe(gallery.samples);
        if (!scores) return std::nullopt;
        if (gallery.prompt.empty()) {
            pictures.push_back(galleryWithMistakes(gallery, *scores, view.classes));
            continue;
        }
        if (stop && !leftOver) return std::nullopt;
        const auto written = lane->write(gallery.prompt, writtenCharacters(gallery));
        if (!written) return std::nullopt;
        if (pictures.empty()) first = *written;
        pictures.push_back(galleryWithText(gallery, *scores, view.classes, *written, first));
    }
    pictures.push_back(galleryWithClasses(gallery, view.classes));
    return pictures;
}

} // namespace halfscope
