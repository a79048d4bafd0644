// The button and its menu.
#include "ui/plots/folded_button.h"

#include "ui/look/owned.h"

#include <QMenu>

namespace halfscope {

FoldedButton::FoldedButton(QWidget* parent) : QToolButton(parent) {
    setObjectName(QStringLiteral("foldedPlots"));
    setAutoRaise(true);
    setFocusPolicy(Qt::TabFocus);
    m_menu = make<QMenu>(this);
    connect(this, &QToolButton::clicked, this, [this] {
        const QSize menu = m_menu->sizeHint(); // opens upwards: the button is at the lower edge
        m_menu->popup(mapToGlobal(QPoint(width() - menu.width(), -menu.height())));
    });
    hide();
}

void FoldedButton::setPlots(const QStringList& titles, bool brief) {
    setVisible(!titles.isEmpty());
    const auto count = static_cast<int>(titles.size());
    setText((brief        ? tr("+%1").arg(count)
             : count == 1 ? tr("1 more plot")
                          : tr("%n more plots", nullptr, count)) +
            QStringLiteral(" \u25be"));
    if (titles == m_titles) return;
    m_titles = titles;
    const QString names = titles.join(QStringLiteral(", "));
    setAccessibleName(tr("There is no room for: %1").arg(names));
    setToolTip(tr("There is no room for: %1. Click to choose one of them, or drag the upper border "
                  "of the plots. View > Plots shown hides plots, which makes room for others.")
                   .arg(names));
    m_menu->clear();
    for (const QString& title : titles)
        m_menu->addAction(
            tr("Make room for: %1").arg(QString(title).replace('&', QLatin1String("&&"))), this,
            [this, title] { Q_EMIT plotChosen(title); });
}

} // namespace halfscope
