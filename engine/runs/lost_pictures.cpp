// Lists them by lane.
#include "engine/runs/lost_pictures.h"

#include <vector>

namespace halfscope {

namespace {

Message lostLaneName(const RunSnapshot& run, size_t lane) {
    return lane < run.lanes().size() ? Message::data(run.lanes()[lane].name)
                                     : Message::number(uint64_t{lane + 1});
}

std::vector<Message> lostOutputs(const RunSnapshot& run, const LanePictures& pictures) {
    std::vector<Message> lost;
    for (const size_t lane : pictures.lost.outputs)
        lost.emplace_back(phrase("Files", "lane %1"), lostLaneName(run, lane));
    return lost;
}

/// Says that these are damaged.
Message damageText(const LanePictures& pictures, const std::vector<Message>& lost) {
    if (lost.empty()) return {};
    const Message what(phrase("Files", "some pictures of step %1 are damaged (%2)"), pictures.step,
                       listed(lost));
    return pictures.lost.from.empty() ? what : within(pictures.lost.from, what);
}

} // namespace

Message lostPicturesText(const RunSnapshot& run, const LanePictures& pictures) {
    std::vector<Message> lost = lostOutputs(run, pictures);
    for (const size_t place : pictures.lost.galleries)
        if (place + 1 < pictures.galleries.size())
            lost.emplace_back(phrase("Files", "the samples of lane %1"), lostLaneName(run, place));
        else
            lost.emplace_back(phrase("Files", "the samples with their true classes"));
    for (const size_t lane : pictures.lost.mistakes)
        lost.emplace_back(phrase("Files", "the mistakes of lane %1"), lostLaneName(run, lane));
    if (run.targetPicture().isDamaged()) lost.emplace_back(phrase("Files", "the target"));
    return damageText(pictures, lost);
}

Message lostOutputsText(const RunSnapshot& run, const LanePictures& pictures) {
    return damageText(pictures, lostOutputs(run, pictures));
}

Message leftOutText(const LanePictures* read, const Message& why) {
    return {read ? phrase("Files", "Saved without some of the pictures: %1")
                 : phrase("Files", "Saved without pictures: %1"),
            why};
}

} // namespace halfscope
