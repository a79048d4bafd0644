// Brings the pictures of the run that is shown into memory: those of most runs lie in the session's
// file. The window does not wait for a slow disk.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/run_pictures.h"
#include "ui/session/file_job.h"

#include <QObject>

#include <cstddef>
#include <memory>
#include <vector>

namespace halfscope {

class PictureLoader : public QObject {
    Q_OBJECT
public:
    using Pictures = std::shared_ptr<const LanePictures>;
    /// Pictures that were shown last stay in memory, up to so many bytes.
    static constexpr size_t kMostBytes = size_t{64} << 20;

    using QObject::QObject;
    ~PictureLoader() override;

    /// Asks for the pictures, and no longer for those before. loaded() or failed() answers, often
    /// before this returns; nothing does when there are none to show. Null: asks for nothing.
    void ask(std::shared_ptr<const RunPictures>);
    /// Whether an answer is still to come.
    bool reads() const { return m_job && m_wanted && !m_wanted->empty(); }
    /// Returns the bytes of the pictures that it keeps in memory.
    size_t bytes() const;

signals:
    void loaded(const halfscope::PictureLoader::Pictures& pictures);
    void failed(const halfscope::Message& reason);

private:
    /// What the thread uses.
    struct Reading {
        std::shared_ptr<const RunPictures> of;
        Pictures found{};
    };
    struct Shown {
        std::weak_ptr<const RunPictures> of;
        Pictures pictures;
    };
    void start();
    void conclude();
    void tell(const Pictures&);
    void keep(const Pictures&);

    std::shared_ptr<const RunPictures> m_wanted;
    std::shared_ptr<Reading> m_reading; ///< null without a job
    std::unique_ptr<FileJob> m_job;     ///< one at a time, however slow the disk is
    std::vector<Shown> m_shown;         ///< the newest last
};

} // namespace halfscope
