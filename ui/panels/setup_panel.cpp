// Groups are generated from the field table through the model; they are rebuilt when lanes come or
// go.
#include "ui/panels/setup_panel.h"

#include "engine/settings/idle_settings.h"
#include "engine/settings/lane_titles.h"
#include "engine/settings/optimizer_warnings.h"
#include "engine/settings/precision.h"
#include "ui/dialogs/sweep_dialog.h"
#include "ui/look/icons.h"
#include "ui/look/owned.h"
#include "ui/look/tab_order.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/models/translated.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/restart_note.h"
#include "ui/panels/section.h"

#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPointer>
#include <QScrollArea>
#include <QScrollBar>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {
namespace {
constexpr double kNoteSize = 0.8; // of the font, as in the notes beside the settings
constexpr qsizetype kMostIdle = 6;
constexpr int kLeast = 270; // of the width
} // namespace

SetupPanel::SetupPanel(ConfigModel& model, QWidget* parent)
    : QWidget(parent), m_model(model), m_told(&model) {
    m_restart = make<RestartNote>(m_model, this);
    connect(m_restart, &RestartNote::restartRequested, this, &SetupPanel::restartRequested);
    connect(m_restart->parents(), &QMenu::aboutToShow, this,
            [this] { fillForks(*m_restart->parents(), m_restart->newestLane()); });
    m_scroll = make<QScrollArea>(this);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setAccessibleName(tr("Settings"));
    m_scroll->setFocusPolicy(Qt::ClickFocus); // Tab goes to the settings, which show that
    auto* column = make<QVBoxLayout>(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_strip = make<QHBoxLayout>();
    m_strip->setContentsMargins(8, 0, 8, 2);
    m_strip->setSpacing(2);
    column->addLayout(m_strip);
    column->addWidget(m_scroll, 1);
    column->addWidget(m_restart); // below, so that nothing under the pointer moves when it appears
    connect(&m_model, &QAbstractItemModel::modelReset, this, &SetupPanel::reload);
    connect(&m_model, &QAbstractItemModel::dataChanged, this, &SetupPanel::refresh);
    connect(&m_model, &ConfigModel::loaded, this, [this] { tellIdle({}); });
    rebuild();
}

QSize SetupPanel::sizeHint() const { return {320, 600}; }

/// The settings cannot be scrolled sideways: the panel is as wide as the widest of them.
void SetupPanel::keepWide() {
    const int widest = m_scroll->widget()->minimumSizeHint().width();
    setMinimumWidth(std::max(kLeast, widest + m_scroll->verticalScrollBar()->sizeHint().width()));
}

Section* SetupPanel::newSection(const QString& id, const QString& title, QWidget* content) {
    auto* section = make<Section>(title, content);
    const auto known = m_open.find(id);
    if (known != m_open.end()) section->setOpen(known->second);
    connect(section, &Section::toggled, this, [this, id](bool open) { m_open[id] = open; });
    content->layout()->addWidget(section);
    return section;
}

void SetupPanel::addRunGroups(QWidget* content) {
    Phrase current;
    for (int i = 0; i < m_model.rowCount(); ++i) {
        if (m_model.row(i).lane >= 0) break;
        const Phrase group = m_model.row(i).field->group;
        if (m_groups.empty() || !(group == current)) {
            const QString id = QString::fromUtf8(group.text()); // the same in any language
            m_groups.push_back(
                {newSection(id, translated(group), content), -1, {}, nullptr, nullptr});
            current = group;
        }
        auto* editor = make<FieldEditor>(m_model, i, m_groups.back().section);
        connect(editor, &FieldEditor::dataChosen, this, &SetupPanel::dataChosen);
        m_groups.back().section->addWidget(editor);
        m_groups.back().editors.push_back(editor);
    }
}

void SetupPanel::addLaneGroups(QWidget* content) {
    int lane = -1;
    for (int i = 0; i < m_model.rowCount(); ++i) {
        if (m_model.row(i).lane < 0) continue;
        if (m_model.row(i).lane != lane) {
            lane = m_model.row(i).lane;
            Section* section = newSection(laneLetter(lane), {}, content);
            auto* remove = make<QToolButton>(section);
            remove->setAutoRaise(true);
            remove->setIconSize({12, 12});
            remove->setToolTip(tr("Remove lane %1").arg(laneLetter(lane)));
            remove->setAccessibleName(tr("Remove lane %1").arg(laneLetter(lane)));
            remove->setEnabled(m_model.config().lanes.size() > 1);
            connect(remove, &QToolButton::clicked, this,
                    [this, lane] { m_model.removeLane(lane); });
            section->addToHeading(remove);
            m_groups.push_back({section, lane, {}, remove, newForkButton(lane, section)});
        }
        auto* editor = make<FieldEditor>(m_model, i, m_groups.back().section);
        m_groups.back().section->addWidget(editor);
        m_groups.back().editors.push_back(editor);
    }
}

QToolButton* SetupPanel::newForkButton(int lane, Section* section) {
    auto* fork = make<QToolButton>(section);
    fork->setObjectName(QStringLiteral("fork:%1").arg(lane));
    fork->setAccessibleName(tr("Continue from here as this lane"));
    fork->setText(fork->accessibleName() + QStringLiteral("\u2003")); // room for the menu's arrow
    fork->setToolTip(RestartNote::forkTip());
    fork->setAccessibleDescription(fork->toolTip());
    fork->setPopupMode(QToolButton::InstantPopup);
    auto* menu = make<QMenu>(fork);
    connect(menu, &QMenu::aboutToShow, this, [this, menu, lane] { fillForks(*menu, lane); });
    fork->setMenu(menu);
    section->addWidget(fork);
    return fork;
}

void SetupPanel::fillForks(QMenu& menu, int lane) {
    menu.clear();
    if (!m_model.running()) return;
    RunConfig run = *m_model.running();
    std::vector<int> parents(run.lanes.size(), -1);
    if (const RunConfig* begun = recorded()) {
        run.edits = begun->edits;
        for (size_t own = 0; own < parents.size(); ++own)
            parents[own] = parentOfLane(*begun, static_cast<int>(own));
    }
    const QStringList labels = laneLabels(laneTitles(run, parents));
    for (int parent = 0; parent < static_cast<int>(labels.size()); ++parent)
        menu.addAction(forkText(lane, parent, labels[parent]).replace('&', QLatin1String("&&")),
                       this, [this, lane, parent] { emit forkRequested(lane, parent); });
}

std::optional<double> SetupPanel::presentScale(int lane) const {
    const std::optional<int> own = m_model.runsAs(lane);
    const std::optional<RunConfig>& run = m_model.running();
    if (!own || !run || !m_scaleOf || !scalesLoss(run->lanes[static_cast<size_t>(*own)])) return {};
    return m_scaleOf(*own);
}

QString SetupPanel::forkText(int lane, int parent, const QString& label) const {
    const LaneConfig& own = m_model.config().lanes[static_cast<size_t>(lane)];
    const LaneConfig& other = m_model.running()->lanes[static_cast<size_t>(parent)];
    std::optional<double> scale; // a lane without a loss scale has none to pass on
    if (!scalesLoss(other))
        scale = own.scaler.initScale;
    else if (m_scaleOf)
        scale = m_scaleOf(parent);
    if (!scale || !scalesLoss(own)) return tr("Continue lane %1").arg(label);
    if (!scalesLoss(other) || own.scaler.initScale == other.scaler.initScale)
        return tr("Continue lane %1, at loss scale %2").arg(label, scaleText(*scale));
    return tr("Continue lane %1, at its loss scale %2 (First scale %3 is not used)")
        .arg(label, scaleText(*scale), scaleText(own.scaler.initScale));
}

void SetupPanel::addLaneButtons(QWidget* content) {
    m_addLane = make<QToolButton>(content);
    m_addLane->setText(tr("Add a lane"));
    m_addLane->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    connect(m_addLane, &QToolButton::clicked, this, &SetupPanel::addLane);
    content->layout()->addWidget(m_addLane);
    m_sweep = make<QToolButton>(content);
    m_sweep->setObjectName(QStringLiteral("sweep"));
    m_sweep->setText(tr("Try several values…"));
    connect(m_sweep, &QToolButton::clicked, this, &SetupPanel::askSweep);
    content->layout()->addWidget(m_sweep);
}

void SetupPanel::refreshLaneButtons() {
    const QString obstacle = m_model.laneObstacle(), never = m_model.cannotTrain();
    m_addLane->setEnabled(obstacle.isEmpty());
    m_addLane->setToolTip(
        obstacle.isEmpty()
            ? tr("Adds another training of the same network, a copy of the last lane; at most %1")
                  .arg(ConfigModel::kMostLanes)
            : obstacle);
    m_sweep->setEnabled(never.isEmpty() && !sweptFields(m_model.config()).empty());
    m_sweep->setToolTip(never.isEmpty() ? tr("Makes a lane for each of several values of one "
                                             "setting, such as the first loss scale")
                                        : never);
}

void SetupPanel::askSweep() {
    if (sweptFields(m_model.config()).empty()) return;
    auto* dialog =
        make<SweepDialog>(m_model.config(), this, [this](int lane) { return presentScale(lane); });
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &SweepDialog::chosen, this, [this](const Sweep& sweep) {
        m_model.sweep(sweep);
        emit restartRequested();                          // they are compared from the same start
        QTimer::singleShot(0, this, [this] { goTo(0); }); // after they have been laid out
    });
    dialog->open(); // training goes on
}

void SetupPanel::takeCells(const SettingGrid& grid, const std::vector<size_t>& cells) {
    m_model.takeCells(grid, cells);
    emit restartRequested();
}

void SetupPanel::addLane() {
    const bool byKeys = isAncestorOf(window()->focusWidget()); // of a control that goes now
    if (!m_model.addLane()) return;
    const int lane = static_cast<int>(m_model.config().lanes.size()) - 1;
    // after its settings have been laid out
    QTimer::singleShot(0, this, [this, lane, byKeys] { leadTo(lane, byKeys); });
}

void SetupPanel::rebuildStrip() {
    for (QToolButton* jump : m_jumps) {
        jump->hide();
        jump->deleteLater(); // may be the button that is being clicked
    }
    m_jumps.clear();
    while (QLayoutItem* item = m_strip->takeAt(0))
        delete item;
    for (int lane = -1; lane < static_cast<int>(m_model.config().lanes.size()); ++lane) {
        auto* jump = make<QToolButton>(this);
        connect(jump, &QToolButton::clicked, this,
                [this, jump, lane] { leadTo(lane, jump->hasFocus()); });
        m_strip->addWidget(jump);
        m_jumps.push_back(jump);
    }
    m_strip->addStretch(1);
}

const RunConfig* SetupPanel::recorded() const {
    return m_model.running() && m_recorded ? m_recorded() : nullptr;
}

/// Returns the titles of the edited lanes, which may have other places than those of the run. A
/// loss scale that was set by hand is no setting, but part of what the run calls its lanes.
QStringList SetupPanel::laneNames() const {
    RunConfig named = m_model.config();
    const RunConfig* begun = recorded();
    std::vector<int> parents;
    for (int lane = 0; lane < static_cast<int>(named.lanes.size()); ++lane) {
        const std::optional<int> runs = m_model.runsAs(lane);
        const int parent = runs && begun ? parentOfLane(*begun, *runs) : -1;
        const int edited = parent < 0 ? -1 : m_model.editedLane(parent).value_or(-1);
        parents.push_back(m_model.canFork(lane) ? kNewLane : edited);
        if (!runs || !begun) continue;
        for (LiveEdit edit : begun->edits) {
            if (edit.key != kLiveScale || (edit.lane >= 0 && edit.lane != *runs)) continue;
            edit.lane = lane;
            named.edits.push_back(std::move(edit));
        }
    }
    return laneTitles(named, parents);
}

void SetupPanel::refreshStrip() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    const QStringList names = laneNames();
    // names, if they fit next to each other in the narrowest panel
    constexpr int kRoom = 250, kAroundText = 12;
    int needed = fontMetrics().horizontalAdvance(tr("Experiment")) + kAroundText;
    for (const QString& name : names)
        needed += fontMetrics().horizontalAdvance(laneLabel(0, name)) + kAroundText;
    m_jumps[0]->setText(tr("Experiment"));
    m_jumps[0]->setToolTip(tr("Shows the settings that all lanes share"));
    m_jumps[0]->setAccessibleName(m_jumps[0]->toolTip());
    for (int lane = 0; lane < static_cast<int>(names.size()); ++lane) {
        const QString label = laneLabel(lane, names[lane]);
        QToolButton* jump = m_jumps[static_cast<size_t>(lane) + 1];
        jump->setText(needed > kRoom ? laneLetter(lane) : label);
        jump->setToolTip(tr("Shows the precision and the loss scaler of lane %1").arg(label));
        jump->setAccessibleName(jump->toolTip());
        setOwnColor(*jump, QPalette::ButtonText, colors.laneOnButton(lane));
    }
}

/// Names them as the form would: the window hides settings that have no effect. Below stands what
/// keeps an optimizer from learning.
void SetupPanel::refreshIdle() {
    QStringList names;
    if (!m_idleKeys.empty()) // otherwise there is nothing to look for
        for (const std::string& key : idleSettings(m_model.config()))
            if (std::find(m_idleKeys.begin(), m_idleKeys.end(), key) != m_idleKeys.end())
                names << translated(Message::data(key));
    QStringList warnings;
    for (const Message& warning : optimizerWarnings(m_model.config()))
        warnings << translated(warning);
    m_idle->setVisible(!names.isEmpty() || !warnings.isEmpty());
    const auto textOf = [&warnings](const QStringList& listed) {
        const QString idle = tr("Without effect beside the other settings: %1")
                                 .arg(listed.join(QStringLiteral(", ")));
        return ((listed.isEmpty() ? QStringList() : QStringList(idle)) + warnings).join(u'\n');
    };
    QStringList shown = names.mid(0, kMostIdle);
    if (names.size() > kMostIdle)
        shown.back() = tr("%n more", nullptr, static_cast<int>(names.size() - kMostIdle + 1));
    m_idle->setText(textOf(shown));
    m_idle->setToolTip(textOf(names));
    m_idle->setAccessibleName(m_idle->toolTip());
}

void SetupPanel::goTo(int lane) {
    for (const Group& group : m_groups) {
        if (group.lane != lane) continue;
        group.section->setOpen(true);
        m_scroll->widget()->layout()->activate(); // it may just have been unfolded
        m_scroll->verticalScrollBar()->setValue(lane < 0 ? 0 : group.section->y());
        return;
    }
}

/// The keyboard goes along; a click leaves it to Play.
void SetupPanel::leadTo(int lane, bool byKeys) {
    goTo(lane);
    if (!byKeys) return;
    const auto group = std::ranges::find(m_groups, lane, &Group::lane);
    if (group != m_groups.end()) group->section->takeKeyboard();
}

void SetupPanel::goToRow(int row) {
    const QString name = FieldEditor::nameOf(m_model, row);
    for (const Group& group : m_groups)
        for (FieldEditor* editor : group.editors) {
            if (editor->objectName() != name) continue;
            group.section->setOpen(true);
            layOut(); // it may just have been unfolded
            editor->control()->setFocus();
            m_scroll->ensureWidgetVisible(editor);
            return;
        }
}

void SetupPanel::editLayers(const std::string& network) {
    goToRow(m_model.rowOf("model.layers"));
    if (FieldEditor* layers = editor("model.layers"))
        layers->editNetwork(QString::fromStdString(network));
}

/// Reloads the editors after a reset of the model. New widgets take most of the time, and are
/// needed only when the lanes have changed.
void SetupPanel::reload() {
    std::vector<FieldEditor*> editors;
    for (const Group& group : m_groups)
        editors.insert(editors.end(), group.editors.begin(), group.editors.end());
    bool same = static_cast<int>(editors.size()) == m_model.rowCount();
    for (int row = 0; same && row < m_model.rowCount(); ++row)
        same = editors[static_cast<size_t>(row)]->objectName() == FieldEditor::nameOf(m_model, row);
    if (!same) return rebuild();
    for (int row = 0; row < m_model.rowCount(); ++row)
        editors[static_cast<size_t>(row)]->reload(row);
    refresh();
}

void SetupPanel::rebuild() {
    const int scrolled = m_scroll->verticalScrollBar()->value();
    m_groups.clear();
    // The call may come from the old content (a lane's remove button), so that is deleted later.
    if (QWidget* old = m_scroll->takeWidget()) {
        old->hide();
        old->deleteLater();
    }
    auto* content = make<QWidget>();
    auto* column = make<QVBoxLayout>(content);
    column->setContentsMargins(8, 6, 8, 8);
    column->setSpacing(4);
    m_idle = make<QLabel>(content);
    m_idle->setObjectName(QStringLiteral("idle"));
    m_idle->setTextFormat(Qt::PlainText);
    m_idle->setWordWrap(true);
    // a very long key must not make the window wider
    m_idle->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_idle->setFont(scaledFont(font(), kNoteSize));
    column->addWidget(m_idle);
    addRunGroups(content);
    addLaneGroups(content);
    addLaneButtons(content);
    column->addStretch(1);
    rebuildStrip();
    m_scroll->setWidget(content);
    orderTabs(*this, m_scroll); // new widgets would come last, after the plots and the events
    applyColors();
    refresh();
    m_scroll->verticalScrollBar()->setValue(scrolled);
}

/// Returns the setting that must not move while others get longer or shorter: the one that has just
/// been refused, as its user will go back to it; else the one that is being used, else the first
/// one in view. What is being clicked does not move, either. Null at the top, where what appears
/// there must be seen.
QWidget* SetupPanel::anchor() const {
    const QRect view = m_scroll->viewport()->rect();
    if (QGuiApplication::mouseButtons() == Qt::NoButton)
        for (const Group& group : m_groups)
            for (FieldEditor* editor : group.editors)
                if (editor->isNewlyRefused() && view.intersects(inView(*editor->control())))
                    return editor->control();
    QWidget* const used = focusWidget();
    if (used && m_scroll->widget()->isAncestorOf(used) && view.intersects(inView(*used)))
        return used;
    if (m_scroll->verticalScrollBar()->value() == 0) return nullptr;
    for (const Group& group : m_groups)
        for (FieldEditor* editor : group.editors)
            if (editor->isVisible() && inView(*editor).top() >= 0) return editor->control();
    return nullptr;
}

QRect SetupPanel::inView(const QWidget& widget) const {
    return {widget.mapTo(m_scroll->viewport(), QPoint()), widget.size()};
}

/// Lays the settings out now.
void SetupPanel::layOut() {
    QLayout* settings = m_scroll->widget()->layout();
    settings->invalidate();
    settings->activate();
    QEvent request(QEvent::LayoutRequest); // gives the settings the height that they need now
    QCoreApplication::sendEvent(m_scroll, &request);
}

/// Once the settings know their width, choices without room beside their names have rows of their
/// own. Each layout would tell the one around it in another round of events, and rows would move.
void SetupPanel::settleHeights() {
    const auto settle = [](QWidget* widget) {
        QCoreApplication::sendPostedEvents(widget, QEvent::LayoutRequest);
    };
    for (const Group& group : m_groups) {
        for (FieldEditor* editor : group.editors)
            settle(editor);
        if (!group.editors.empty()) settle(group.editors.front()->parentWidget());
        settle(group.section);
    }
    settle(m_scroll->widget());
    layOut();
}

/// Scrolls by as much as the anchor has moved.
void SetupPanel::holdInPlace(const QWidget& held, int top) {
    layOut();
    QScrollBar* bar = m_scroll->verticalScrollBar();
    bar->setValue(bar->value() + inView(held).top() - top);
}

void SetupPanel::refresh() {
    const QPointer<QWidget> held = anchor();
    const int top = held ? inView(*held).top() : 0;
    const bool noted = restartShown();
    const QPointer<QWidget> used = focusWidget();
    const bool seen = used && m_scroll->widget()->isAncestorOf(used) &&
                      m_scroll->viewport()->rect().contains(inView(*used));
    refreshSettings();
    if (held) holdInPlace(*held, top);
    if (!noted && restartShown() && m_scroll->isAncestorOf(focusWidget())) {
        layout()->activate(); // there is less room for the settings now
        m_scroll->ensureWidgetVisible(focusWidget());
    } else if (seen && used) {
        m_scroll->ensureWidgetVisible(used, 0, 0); // another one was held
    }
    if (FieldEditor* typed = withKeyboard(); typed && !typed->errorText().isEmpty()) {
        layOut();
        m_scroll->ensureWidgetVisible(typed, 0, 0); // with the sentence below it
    }
}

void SetupPanel::refreshSettings() {
    const QStringList names = laneNames();
    for (const Group& group : m_groups) {
        bool any = false;
        for (FieldEditor* editor : group.editors) {
            editor->refresh();
            any = any || editor->applies();
        }
        group.section->setVisible(any);
        if (group.lane < 0) continue;
        group.section->setTitle(laneLabel(group.lane, names[group.lane]));
        group.fork->setVisible(m_model.canFork(group.lane));
    }
    refreshLaneButtons();
    refreshStrip();
    refreshIdle();
    keepWide();
    m_restart->refresh();
}

/// A field that loses the keyboard as the panel goes still commits what was typed in it: the model
/// then tells a panel whose members are gone.
SetupPanel::~SetupPanel() {
    if (m_told) m_told->disconnect(this);
}

FieldEditor* SetupPanel::editor(std::string_view key, int lane) const {
    return findChild<FieldEditor*>(
        QStringLiteral("field:%1:%2")
            .arg(QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size())))
            .arg(lane));
}

bool SetupPanel::restartShown() const { return !m_restart->isHidden(); }

FieldEditor* SetupPanel::withKeyboard() const {
    QWidget* at = window()->focusWidget();
    while (at && at != this && !qobject_cast<FieldEditor*>(at))
        at = at->parentWidget();
    return qobject_cast<FieldEditor*>(at);
}

/// Takes the key for help from the window, which would open the manual where it was left.
bool SetupPanel::event(QEvent* event) {
    if (event->type() == QEvent::Show && !event->spontaneous()) {
        settleHeights();
        emit shownAgain();
    }
    const bool comes = event->type() == QEvent::ShortcutOverride;
    if (!comes && event->type() != QEvent::KeyPress) return QWidget::event(event);
    auto* key = static_cast<QKeyEvent*>(event);
    const FieldEditor* asks = key->matches(QKeySequence::HelpContents) ? withKeyboard() : nullptr;
    if (!asks) return QWidget::event(event);
    key->accept();
    if (!comes) emit explanationAsked(asks->key());
    return true;
}

void SetupPanel::changeEvent(QEvent* event) {
    if ((event->type() == QEvent::PaletteChange ||
         event->type() == QEvent::ApplicationPaletteChange) &&
        m_addLane)
        applyColors();
    QWidget::changeEvent(event);
}

void SetupPanel::applyColors() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    m_addLane->setIcon(themedIcon(QStringLiteral("plus"), colors.text));
    refreshStrip();
    for (const Group& group : m_groups) {
        if (group.lane < 0) continue;
        group.section->setSwatch(colors.lane(group.lane));
        group.remove->setIcon(themedIcon(QStringLiteral("close"), colors.text));
    }
    m_restart->applyColors();
}

} // namespace halfscope
