// A browser that stays in its text: a link leads to a part of it or asks for an experiment.
#include "ui/dialogs/help_dialog.h"

#include "ui/dialogs/help.h"
#include "ui/look/owned.h"

#include <QDialogButtonBox>
#include <QEvent>
#include <QScreen>
#include <QScrollBar>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

namespace halfscope {

HelpDialog::HelpDialog(QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Halfscope help"));
    m_text = make<QTextBrowser>(this);
    m_text->setAccessibleName(windowTitle());
    m_text->setOpenLinks(false);
    showText();
    connect(m_text, &QTextBrowser::anchorClicked, this, &HelpDialog::follow);
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = make<QVBoxLayout>(this);
    column->addWidget(m_text);
    column->addWidget(buttons);
    constexpr QSize kRoom(600, 780); // a part of it; the rest scrolls
    resize(kRoom.boundedTo(screen()->availableSize() - QSize(40, 80)));
}

void HelpDialog::showPart(const QString& anchor) {
    show();
    raise();
    m_text->scrollToAnchor(anchor);
}

/// Links take the colour that the theme has while the text is read.
void HelpDialog::showText() {
    const int place = m_text->verticalScrollBar()->value();
    m_text->setHtml(helpText());
    m_text->verticalScrollBar()->setValue(place);
}

void HelpDialog::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_text) showText();
    QDialog::changeEvent(event);
}

void HelpDialog::follow(const QUrl& link) {
    if (link.scheme() == QLatin1String(kPresetScheme))
        emit presetChosen(link.path());
    else
        m_text->scrollToAnchor(link.fragment());
}

} // namespace halfscope
