// The line: coloured edge, selectable text, a button for what is offered, close button.
#include "ui/panels/banner.h"

#include "ui/look/alert.h"
#include "ui/look/icons.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/panels/wrapped_text.h"

#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

#include <utility>

namespace halfscope {
namespace {
constexpr int kEdge = 4; // pixels
} // namespace

Banner::Banner(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("banner"));
    m_text = make<WrappedText>(this);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_offer = make<QPushButton>(this);
    m_offer->setObjectName(QStringLiteral("offer"));
    m_offer->setFocusPolicy(Qt::NoFocus); // it has no name yet
    m_offer->hide();
    m_close = make<QToolButton>(this);
    m_close->setAutoRaise(true);
    m_close->setToolTip(tr("Dismiss this message"));
    m_close->setAccessibleName(tr("Dismiss this message"));
    auto* row = make<QHBoxLayout>(this);
    row->setContentsMargins(kEdge + 12, 6, 8, 6);
    row->addWidget(m_text, 1);
    row->addWidget(m_offer, 0, Qt::AlignTop);
    row->addWidget(m_close, 0, Qt::AlignTop);
    connect(m_close, &QToolButton::clicked, this, &Banner::dismiss);
    connect(m_offer, &QPushButton::clicked, this, [this] {
        const std::function<void()> act = std::exchange(m_act, nullptr);
        dismiss();
        if (act) act();
    });
    applyColors();
    hide();
}

void Banner::showText(const QString& text) {
    m_problem = nullptr;
    tell(text);
}

bool Banner::showNotice(const QString& text, std::function<QString()> now) {
    if (m_holds) {
        emit toldElsewhere(text);
        return false;
    }
    m_problem = std::move(now);
    tell(text, false);
    return true;
}

void Banner::holdNoticesBack(bool hold) {
    m_holds = hold;
    if (hold && !m_wrong && !isHidden()) {
        m_held = true;
        hide();
    } else if (!hold && std::exchange(m_held, false)) {
        show();
    }
    lookAgain(); // what it says may have changed meanwhile, or is another way in the other view
}

void Banner::showProblem(const QString& text, std::function<QString()> now) {
    m_problem = std::move(now);
    tell(text);
}

void Banner::offer(const QString& button, const QString& toolTip, std::function<void()> act) {
    m_act = std::move(act);
    m_offer->setText(button);
    m_offer->setFocusPolicy(Qt::StrongFocus);
    m_offer->setToolTip(toolTip);
    m_offer->show();
    fitText();
}

void Banner::lookAgain() {
    if (!m_problem) return;
    const QString now = m_problem();
    if (now.isEmpty()) return leave();
    if ((m_holds && !m_wrong) || (!isHidden() && now == text())) return;
    tell(now, m_wrong, Offered::Stays); // it is about the same cause
}

void Banner::dismiss() {
    m_problem = nullptr;
    m_act = nullptr;
    leave();
}

void Banner::leave() {
    m_held = false;
    const QWidget* focus = window()->focusWidget();
    if (m_heir && focus && isAncestorOf(focus)) {
        const bool takes = m_heir->isEnabled() && m_heir->isVisible();
        (takes ? m_heir : parentWidget())->setFocus(Qt::OtherFocusReason);
    }
    hide();
}

/// A button that stays is not even hidden for a moment: it may have the keyboard.
void Banner::tell(const QString& text, bool wrong, Offered offered) {
    m_wrong = wrong;
    if (offered == Offered::Goes) {
        m_act = nullptr;
        m_offer->hide();
    }
    m_text->setText(text);
    fitText();
    setAccessibleName(text);
    m_held = false;
    show();
    update(); // in its colour
    alertAbout(*this);
}

/// Gives the text the height of its lines. It does not ask for it as QLabel does: the whole page
/// would then be made as high as all its parts would like to be.
void Banner::fitText() {
    const QMargins margins = layout()->contentsMargins();
    int around =
        margins.left() + margins.right() + layout()->spacing() + m_close->sizeHint().width();
    if (!m_offer->isHidden()) around += layout()->spacing() + m_offer->sizeHint().width();
    m_text->setFixedHeight(heightOf(m_text->text(), m_text->font(), width() - around));
}

void Banner::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fitText();
}

QString Banner::text() const { return m_text->text(); }

void Banner::changeEvent(QEvent* event) {
    if ((event->type() == QEvent::PaletteChange ||
         event->type() == QEvent::ApplicationPaletteChange))
        applyColors();
    if (event->type() == QEvent::FontChange) fitText();
    QFrame::changeEvent(event);
}

/// Paints without a style sheet: below one, Qt does not tell widgets of another theme's palette.
void Banner::paintEvent(QPaintEvent*) {
    const Colors colors = colorsFor(QGuiApplication::palette());
    const QColor edge = m_wrong ? colors.error : colors.accent;
    QColor fill = edge;
    fill.setAlpha(colors.dark ? 60 : 36);
    QPainter painter(this);
    painter.fillRect(rect(), fill);
    painter.fillRect(0, 0, kEdge, height(), edge);
}

void Banner::applyColors() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    m_close->setIcon(themedIcon(QStringLiteral("close"), colors.text));
}

} // namespace halfscope
