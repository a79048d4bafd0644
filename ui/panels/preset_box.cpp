// A combo box in looks, keys and for screen readers, but with a menu instead of a list.
#include "ui/panels/preset_box.h"

#include "engine/settings/fields.h"
#include "ui/look/owned.h"
#include "ui/models/translated.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QWheelEvent>

#include <algorithm>

namespace halfscope {
PresetBox::PresetBox(QWidget* parent) : QComboBox(parent) {
    setAccessibleName(tr("Experiment"));
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(14);
    // a click must not take Space away from Play
    setFocusPolicy(Qt::TabFocus);
    for (const Preset& preset : presets())
        addItem(QString(), QString::fromStdString(preset.name));
    buildMenu();
    connect(this, &QComboBox::activated, this, [this](int index) {
        const QString name = itemData(index).toString();
        if (!name.isEmpty()) emit chosen(name);
    });
    showExperiment(itemData(0).toString(), {});
}

void PresetBox::buildMenu() {
    m_menu = make<QMenu>(tr("E&xperiments"), this);
    m_menu->setToolTipsVisible(true);
    m_actions = make<QActionGroup>(this);
    m_groups = make<QActionGroup>(this);
    for (QActionGroup* marks : {m_actions, m_groups})
        marks->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
    const auto all = presets();
    const Phrase first = all.front().group; // the window opens with one of it, so the group is one
                                            // click away
    Phrase group = first;
    QMenu* into = m_menu;
    for (size_t i = 0; i < all.size(); ++i) {
        if (!(all[i].group == group)) {
            if (group == first) m_menu->addSeparator();
            group = all[i].group;
            into = m_menu->addMenu(translated(group));
            into->setToolTipsVisible(true);
            into->menuAction()->setCheckable(true); // marked when the present one is inside
            m_groups->addAction(into->menuAction());
        }
        addTo(*into, static_cast<int>(i));
    }
    m_menu->installEventFilter(this);
    for (QAction* entry : m_groups->actions())
        entry->menu()->installEventFilter(this);
    connect(m_menu, &QMenu::aboutToShow, this, &PresetBox::tellPresets);
    // the arrow returns to its normal state
    connect(m_menu, &QMenu::aboutToHide, this, [this] { QComboBox::hidePopup(); });
}

void PresetBox::addTo(QMenu& menu, int index) {
    QAction* action = menu.addAction(QString());
    action->setCheckable(true);
    m_actions->addAction(action);
    connect(action, &QAction::triggered, this, [this, index] {
        setCurrentIndex(index);
        emit activated(index);
    });
}

/// Tells of each preset what it is called and does here, which changes when its data arrive.
void PresetBox::tellPresets() {
    int index = 0;
    for (const Preset& preset : presets()) {
        const QString title = translated(preset.titleHere()),
                      about = translated(preset.aboutHere());
        setItemText(index, title);
        setItemData(index, about, Qt::ToolTipRole);
        QAction* action = m_actions->actions().at(index++);
        action->setText(QString(title).replace(u'&', QStringLiteral("&&")));
        action->setToolTip(about);
    }
}

void PresetBox::showPopup() {
    m_menu->setMinimumWidth(width());
    m_menu->popup(mapToGlobal(QPoint(0, height())));
    // One of a group has a mark only: the group would be unfolded, and a submenu that the mouse did
    // not open closes under it, or takes no clicks.
    QAction* current = m_actions->checkedAction();
    if (m_menu->actions().contains(current)) m_menu->setActiveAction(current);
}

void PresetBox::showExperiment(const QString& preset, const QString& title) {
    tellPresets();
    int index = preset.isEmpty() ? -1 : findData(preset);
    const int own = findData(QString());
    if (index < 0 && own < 0) addItem(title, QString());
    if (index < 0) {
        index = findData(QString());
        setItemText(index, title);
    } else if (own >= 0) {
        removeItem(own);
    }
    setCurrentIndex(index);
    for (int i = 0; i < m_actions->actions().size(); ++i)
        m_actions->actions().at(i)->setChecked(i == index);
    for (QAction* group : m_groups->actions())
        group->setChecked(group->menu()->actions().contains(m_actions->checkedAction()));
    const QString about = itemData(index, Qt::ToolTipRole).toString();
    const QString told = !about.isEmpty()   ? about
                         : !title.isEmpty() ? title // the box may have no room for all of it
                                            : tr("The experiments that come with the program");
    setToolTip(told);
    setAccessibleDescription(told);
}

/// Elides a long title itself: Qt would cut a file's title in the middle of a letter.
void PresetBox::paintEvent(QPaintEvent*) {
    QStylePainter painter(this);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    const int room =
        style()
            ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this)
            .width();
    option.currentText = fontMetrics().elidedText(option.currentText, Qt::ElideRight, room);
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

/// Lets a letter go to the next entry of an open menu that begins with it, as in a list: a menu
/// knows only the letters that are underlined.
bool PresetBox::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return QComboBox::eventFilter(watched, event);
    auto* menu = static_cast<QMenu*>(watched);
    const auto& key = static_cast<const QKeyEvent&>(*event);
    const QString letter = key.text();
    const bool other = (key.modifiers() & ~Qt::ShiftModifier) != 0;
    if (other || letter.size() != 1 || !letter.front().isLetterOrNumber())
        return QComboBox::eventFilter(watched, event);
    const auto begins = [&letter](const QAction* entry) {
        return entry && entry->text().startsWith(letter, Qt::CaseInsensitive);
    };
    const QList<QAction*> entries = menu->actions();
    if (std::ranges::none_of(entries, begins)) return true;
    // setActiveAction() would unfold a group, which then has the keyboard; the arrows only mark it
    for (qsizetype i = 0; i < entries.size(); ++i) {
        QKeyEvent down(QEvent::KeyPress, Qt::Key_Down, Qt::NoModifier);
        QCoreApplication::sendEvent(menu, &down);
        if (begins(menu->activeAction())) break;
    }
    return true;
}

/// Ignores the wheel: turning it must not end the run.
void PresetBox::wheelEvent(QWheelEvent* event) { event->ignore(); }

} // namespace halfscope
