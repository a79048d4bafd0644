// Lists them by lane.
#include "engine/runs/lost_pictures.h"

#include <vector>

namespace halfscope {

Message lostPicturesText(const RunSnapshot& run, const LanePictures& pictures) {
    const auto nameOf = [&run](size_t lane) {
        return lane < run.lanes().size() ? Message::data(run.lanes()[lane].name)
                                         : Message::number(uint64_t{lane + 1});
    };
    std::vector<Message> lost;
    for (const size_t lane : pictures.lost.outputs)
        lost.emplace_back(phrase("Files", "lane %1"), nameOf(lane));
    for (const size_t place : pictures.lost.galleries)
        if (place + 1 < pictures.galleries.size())
            lost.emplace_back(phrase("Files", "the samples of lane %1"), nameOf(place));
        else
            lost.emplace_back(phrase("Files", "the samples with their true classes"));
    for (const size_t lane : pictures.lost.mistakes)
        lost.emplace_back(phrase("Files", "the mistakes of lane %1"), nameOf(lane));
    if (run.targetPicture().isDamaged()) lost.emplace_back(phrase("Files", "the target"));
    if (lost.empty()) return {};
    const Message what(phrase("Files", "some pictures of step %1 are damaged (%2)"), pictures.step,
                       listed(lost));
    return pictures.lost.from.empty() ? what : within(pictures.lost.from, what);
}

Message leftOutText(const LanePictures* read, const Message& why) {
    return {read ? phrase("Files", "Saved without some of the pictures: %1")
                 : phrase("Files", "Saved without pictures: %1"),
            why};
}

} // namespace halfscope
