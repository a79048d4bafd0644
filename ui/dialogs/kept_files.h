// Keeps the files that a window's runs read, and those of saved runs, from being replaced by what
// the user saves. Results as a whole may replace a saved run: see ResultsQuestion.
#pragma once

#include "engine/runs/overwriting.h"

#include <QObject>
#include <QString>

#include <functional>
#include <span>
#include <vector>

class QWidget;

namespace halfscope {

/// Knows what is read. It is a child of the main window, where the dialogs for saving find it.
class KeptFiles : public QObject {
    Q_OBJECT
public:
    /// Returns what must not be replaced.
    using Reads = std::function<std::vector<ReadPath>()>;
    using Tell = std::function<void(const QString& text)>;

    KeptFiles(Reads reads, Tell tell, QWidget& window);

    /// Whether a file may be written that was chosen in a widget's dialog, so that none that is
    /// read is lost: neither one of `also` nor one of the main window's runs. If not, it says why:
    /// as the main window does, or in a box over another window, which may hide that.
    static bool allow(QWidget* parent, const QString& path, std::span<const ReadPath> also = {});

private:
    const Reads m_reads;
    const Tell m_tell;
};

} // namespace halfscope
