// One thread reads at a time; what is asked for meanwhile is read next.
#include "ui/images/picture_loader.h"

#include "engine/core/error.h"

#include <exception>
#include <utility>

namespace halfscope {

PictureLoader::~PictureLoader() = default;

void PictureLoader::ask(std::shared_ptr<const RunPictures> pictures) {
    m_wanted = std::move(pictures);
    if (!m_wanted || m_wanted->empty()) return;
    if (const Pictures held = m_wanted->held()) return tell(held);
    if (!m_job) start();
}

void PictureLoader::start() {
    m_reading = std::make_shared<Reading>(Reading{m_wanted});
    try {
        m_job = std::make_unique<FileJob>(
            [reading = m_reading] { reading->found = reading->of->read(); },
            FileJob::Leaving::Abandons);
    } catch (const RunError& error) {
        emit failed(error.message());
        return;
    }
    connect(m_job.get(), &FileJob::done, this, &PictureLoader::conclude);
    // other pictures that come and go at once would flicker
    if (m_job->isDone(FileJob::kAtOnce)) conclude();
}

void PictureLoader::conclude() {
    const std::unique_ptr<FileJob> job = std::move(m_job);
    const std::shared_ptr<Reading> reading = std::move(m_reading);
    Message reason;
    try {
        job->result();
    } catch (const std::exception& error) {
        reason = messageOf(error);
    }
    if (m_wanted != reading->of) return ask(m_wanted);
    if (reason.empty()) return tell(reading->found);
    emit failed(reason);
}

void PictureLoader::tell(const Pictures& pictures) {
    keep(pictures);
    emit loaded(pictures);
}

/// Pictures that their run has replaced, as it does many times a second, are of no use any more.
void PictureLoader::keep(const Pictures& pictures) {
    std::erase_if(
        m_shown, [&](const Shown& each) { return each.of.expired() || each.pictures == pictures; });
    m_shown.push_back({m_wanted, pictures});
    while (m_shown.size() > 1 && bytes() > kMostBytes)
        m_shown.erase(m_shown.begin());
}

size_t PictureLoader::bytes() const {
    size_t sum = 0;
    for (const Shown& each : m_shown)
        sum += bytesOf(*each.pictures);
    return sum;
}

} // namespace halfscope
