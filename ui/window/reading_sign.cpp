// Shows the button after a moment.
#include "ui/window/reading_sign.h"

#include "ui/models/safe_text.h"
#include "ui/window/shown_run.h"

#include <QDir>
#include <QFileInfo>
#include <QToolButton>

namespace halfscope {

ReadingSign::ReadingSign(ShownRun& shown, const WindowParts& parts)
    : m_shown(shown), m_parts(parts) {
    constexpr int kLasting = 300; // ms
    m_lasts.setSingleShot(true);
    m_lasts.setInterval(kLasting);
    connect(&m_lasts, &QTimer::timeout, parts.stopReading, &QWidget::show);
    connect(parts.stopReading, &QToolButton::clicked, this, &ReadingSign::stopAsked);
}

void ReadingSign::begin(const QString& path) {
    constexpr size_t kMostBytes = 60;
    const QString name = QDir(QFileInfo(path).absoluteFilePath()).dirName();
    m_shown.setReading(safeText(name.toStdString(), kMostBytes));
    m_lasts.start();
}

/// The keyboard goes to the page: Qt would take the next control, which answers Space itself.
bool ReadingSign::end() {
    m_lasts.stop();
    if (m_parts.stopReading->hasFocus()) m_parts.page->setFocus(Qt::OtherFocusReason);
    m_parts.stopReading->hide();
    return m_shown.setReading({});
}

} // namespace halfscope
