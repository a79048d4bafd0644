// A folder of small pictures with a folder for each class, as data.kind pictures reads them.
#pragma once

#include "engine/io/picture.h"
#include "engine/settings/run_config.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>

#include <memory>

namespace halfscope::test {

constexpr int kPictureSide = 4; ///< of a picture

/// One colour.
inline Picture plain(float red, float green, float blue) {
    Picture made{kPictureSide, kPictureSide, 3, {}};
    for (int p = 0; p < kPictureSide * kPictureSide; ++p)
        made.values.insert(made.values.end(), {red, green, blue});
    return made;
}

/// What a test with such a folder begins with: an empty one for each function.
class PictureFolder {
protected:
    void renew() { m_folder = std::make_unique<QTemporaryDir>(); }
    void put(const QString& name, const Picture& what) const {
        const QString path = m_folder->filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        writePng(what, path.toStdString());
    }
    /// All of the folder's pictures to train on, with their classes.
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
