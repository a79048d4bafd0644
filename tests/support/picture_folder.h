// A folder of small pictures with a folder for each class, as data.kind pictures reads them.
#pragma once

#include "engine/io/picture.h"
#include "engine/settings/run_config.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>

#include <memory>

namespace halfscope::test {

constexpr int kPictureSide = 4; ///< the side of a picture, in pixels

/// Returns a picture of one colour.
inline Picture plain(float red, float green, float blue) {
    Picture made{kPictureSide, kPictureSide, 3, {}};
    for (int p = 0; p < kPictureSide * kPictureSide; ++p)
        made.values.insert(made.values.end(), {red, green, blue});
    return made;
}

/// The base of tests with such a folder: each function begins with an empty one.
class PictureFolder {
protected:
    void renew() { m_folder = std::make_unique<QTemporaryDir>(); }
    void put(const QString& name, const Picture& what) const {
        const QString path = m_folder->filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        writePng(what, path.toStdString());
    }
    /// Returns a task with all of the folder's pictures to train on, with their classes.
    TaskConfig task(TaskKind kind = TaskKind::Pictures) const {
        TaskConfig made;
        made.kind = kind;
        made.loss.kind = LossKind::CrossEntropy;
        made.path = m_folder->path().toStdString();
        made.pictureSide = kPictureSide;
        made.validation = 0;
        return made;
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

} // namespace halfscope::test
