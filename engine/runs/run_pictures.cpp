// Packs pictures, and reads them again.
#include "engine/runs/run_pictures.h"

#include "engine/core/error.h"
#include "engine/runs/session_values.h"

#include <utility>

namespace halfscope {

namespace {

/// Returns all that pictures tell apart from what they show.
LanePictures aboutOf(const LanePictures& pictures) {
    LanePictures about;
    about.step = pictures.step;
    about.validated = pictures.validated;
    about.fromFiles = pictures.fromFiles;
    about.made = pictures.made;
    return about;
}

std::vector<std::vector<std::byte>> packedAll(const std::vector<Picture>& pictures,
                                              const std::vector<size_t>& lost) {
    std::vector<std::vector<std::byte>> all;
    for (const Picture& each : pictures)
        all.push_back(packed(each));
    for (const size_t place : lost)
        all[place].clear(); // else it would look like one that nobody has painted
    return all;
}

PackedPictures packedAll(const LanePictures& pictures) {
    const LostPictures& lost = pictures.lost;
    return {lost.from,
            packedAll(pictures.outputs, lost.outputs),
            packedAll(pictures.galleries, lost.galleries),
            packedAll(pictures.mistakes, lost.mistakes),
            {}};
}

/// A lane that has painted nothing has no picture; any other one must be whole.
void unpackAll(const std::vector<std::vector<std::byte>>& packed, std::vector<Picture>& to,
               std::vector<size_t>& lost) {
    for (const std::vector<std::byte>& each : packed) {
        to.push_back(unpackedPicture(each));
        if (to.back().width < 1 && !isPackedEmpty(each)) lost.push_back(to.size() - 1);
    }
}

} // namespace

size_t bytesOf(const LanePictures& pictures) {
    size_t values = pictures.target.values.size();
    for (const auto* list : {&pictures.outputs, &pictures.galleries, &pictures.mistakes})
        for (const Picture& each : *list)
            values += each.values.size();
    return values * sizeof(float);
}

RunPictures::RunPictures(LanePictures pictures)
    : m_about(aboutOf(pictures)), m_empty(pictures.outputs.empty()) {
    if (pictures.target.width > 0)
        m_target = sharedTarget(std::exchange(pictures.target, Picture()));
    m_kept = std::make_shared<const LanePictures>(std::move(pictures));
}

RunPictures::RunPictures(LanePictures about, Read read)
    : m_about(aboutOf(about)), m_empty(false), m_read(std::move(read)) {}

std::shared_ptr<const LanePictures> RunPictures::held() const {
    const std::lock_guard lock(m_mutex);
    return m_kept ? m_kept : m_seen.lock();
}

std::shared_ptr<const LanePictures> RunPictures::read() const {
    if (auto held = this->held()) return held;
    std::shared_ptr<const LanePictures> found;
    try {
        found = unpacked(packed());
    } catch (const ReportedError&) {
        // the store may have lost them since, and has let them be held before that
        if (auto held = this->held()) return held;
        throw;
    }
    if (auto held = this->held()) return held; // likewise: `found` may be newer ones
    const std::lock_guard lock(m_mutex);
    m_seen = found;
    return found;
}

PackedPictures RunPictures::packed() const {
    const auto [kept, read] = [this] {
        const std::lock_guard lock(m_mutex);
        return std::pair(m_kept, m_read);
    }();
    // what lies in a file is packed there, even while somebody holds it
    return kept ? packedAll(*kept) : read();
}

void RunPictures::setStored(Read read) const {
    std::shared_ptr<const LanePictures> kept; // is released without the lock, as is the old `read`
    const std::lock_guard lock(m_mutex);
    if (m_kept) m_seen = m_kept;
    kept = std::exchange(m_kept, nullptr);
    std::swap(m_read, read);
}

void RunPictures::hold() const {
    auto all = read();
    const std::lock_guard lock(m_mutex);
    m_kept = std::move(all);
}

size_t RunPictures::bytes() const {
    const auto held = this->held();
    return (held ? bytesOf(*held) : 0) + (m_target ? m_target->bytes() : 0);
}

std::shared_ptr<const LanePictures> RunPictures::unpacked(const PackedPictures& all) const {
    LanePictures pictures = m_about;
    LostPictures& lost = pictures.lost;
    lost.from = all.from;
    unpackAll(all.outputs, pictures.outputs, lost.outputs);
    unpackAll(all.galleries, pictures.galleries, lost.galleries);
    unpackAll(all.mistakes, pictures.mistakes, lost.mistakes);
    const size_t count = lost.outputs.size() + lost.galleries.size() + lost.mistakes.size();
    if (count > 0 &&
        count == pictures.outputs.size() + pictures.galleries.size() + pictures.mistakes.size())
        throw RunError(phrase("Files", "%1: the pictures of step %2 are damaged"), all.from,
                       m_about.step);
    return std::make_shared<const LanePictures>(std::move(pictures));
}

} // namespace halfscope
