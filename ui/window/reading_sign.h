// The signs that a file is being read which takes long: the headline, a Play that waits for it, and
// a button to give it up.
#pragma once

#include "ui/window/window_parts.h"

#include <QObject>
#include <QTimer>

namespace halfscope {

class ShownRun;

class ReadingSign : public QObject {
    Q_OBJECT
public:
    /// The run and the parts must outlive it.
    ReadingSign(ShownRun&, const WindowParts&);

    /// Shows them for the file or folder at a path, in place of those of another one.
    void begin(const QString& path);
    /// Removes them. Returns whether Play was pressed meanwhile.
    bool end();

signals:
    void stopAsked();

private:
    ShownRun& m_shown;
    WindowParts m_parts;
    QTimer m_lasts; ///< until the button comes: one that comes and goes at once is no use
};

} // namespace halfscope
