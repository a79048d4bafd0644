// Words of the note. What keeps a training from starting comes first: a restart is offered only
// where one can begin.
#include "ui/panels/restart_note.h"

#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/models/shown_numbers.h"

#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QPushButton>

#include <algorithm>

namespace halfscope {
namespace {
constexpr qsizetype kMostWaiting = 3; // names; more are shown by their marks
} // namespace

RestartNote::RestartNote(ConfigModel& model, QWidget* parent) : QFrame(parent), m_model(model) {
    setObjectName(QStringLiteral("restartNote"));
    m_text = make<QLabel>(this);
    m_text->setObjectName(QStringLiteral("restartText"));
    m_text->setTextFormat(Qt::PlainText); // it may quote a file
    m_text->setWordWrap(true);
    m_restart = make<QPushButton>(tr("Restart now"), this);
    m_restart->setObjectName(QStringLiteral("restartNow"));
    m_fork = make<QPushButton>(this);
    m_fork->setObjectName(QStringLiteral("forkNow"));
    m_fork->setAccessibleName(tr("Continue from here as the new lane"));
    m_parents = make<QMenu>(m_fork);
    m_fork->setMenu(m_parents);
    auto* grid = make<QGridLayout>(this);
    grid->setContentsMargins(8, 5, 8, 5);
    grid->setColumnStretch(0, 1);
    grid->addWidget(m_text, 0, 0);
    grid->addWidget(m_restart, 0, 1);
    grid->addWidget(m_fork, 1, 0, 1, 2, Qt::AlignRight);
    connect(m_restart, &QPushButton::clicked, this, &RestartNote::restartRequested);
    hide();
}

QString RestartNote::forkTip() {
    return tr("This lane starts from the weights and the optimizer state that another lane has "
              "now, and continues with its own settings. Its loss scale is the one that the other "
              "lane has now; First scale matters only at a restart, or if the other lane has no "
              "loss scale. Up to here, its curves are those of the other lane.");
}

int RestartNote::newestLane() const {
    int lane = static_cast<int>(m_model.config().lanes.size()) - 1;
    while (lane >= 0 && !m_model.canFork(lane))
        --lane;
    return lane;
}

/// Names what waits: the other settings of a scaler's preset act at once.
QString RestartNote::waitingText() const {
    const QStringList names = m_model.waitingNames();
    return names.isEmpty() || names.size() > kMostWaiting
               ? tr("These changes need a restart.")
               : tr("%1 will take effect at a restart.").arg(listedTags(names));
}

/// Says what becomes of settings that act at once in a run that trains, but not in one that has
/// ended.
QString RestartNote::heldText() const {
    const QStringList names = m_model.heldNames();
    if (names.isEmpty()) return {};
    if (names.size() > kMostWaiting)
        return tr("The run has ended. Continue keeps training with these changes; a restart uses "
                  "them from the start.");
    return (names.size() == 1
                ? tr("The run has ended. Continue keeps training with the new value of %1; a "
                     "restart uses it from the start.")
                : tr("The run has ended. Continue keeps training with the new values of %1; a "
                     "restart uses them from the start."))
        .arg(listedTags(names));
}

/// Says why no run could begin with what the boxes show, where a lane may be able to continue all
/// the same; empty when one could.
QString RestartNote::obstacle(bool forks) const {
    if (const QString name = m_model.refusedName(); !name.isEmpty())
        return tr("%1 has a value that is not allowed. Correct it first.").arg(name);
    const QString reason = m_model.trainingObstacle();
    if (reason.isEmpty()) return {};
    return (forks ? tr("The new lane can continue from here. A restart is not possible with these "
                       "changes: %1")
                  : tr("No training can start with these changes: %1"))
        .arg(reason);
}

QString RestartNote::text(ConfigModel::Waiting waiting) const {
    switch (waiting) {
    case ConfigModel::Waiting::Nothing: return heldText();
    case ConfigModel::Waiting::NewLanes:
        return tr("The new lane can continue from here, or start with a restart.");
    case ConfigModel::Waiting::Edits: break;
    }
    return waitingText();
}

void RestartNote::refresh() {
    const ConfigModel::Waiting waiting = m_model.waiting();
    const QString said = text(waiting);
    if (said.isEmpty()) return hide();
    const bool untrained = m_model.untrained();
    const int lane = newestLane();
    // the run has its data, which the settings may no longer find
    const bool builds = m_model.refusedName().isEmpty() && m_model.settingsObstacle().isEmpty();
    const bool forks = lane >= 0 && !untrained && builds;
    const QString wrong = obstacle(forks);
    m_text->setText(!wrong.isEmpty() ? wrong
                    : untrained      ? tr("Play starts with these changes.")
                                     : said);
    m_restart->setText(untrained ? tr("Apply now") : tr("Restart now"));
    m_restart->setToolTip(untrained ? tr("Shows the networks with these changes before training")
                                    : tr("Restarts the run with the changed settings"));
    m_restart->setVisible(wrong.isEmpty()); // otherwise nothing starts
    m_fork->setText(tr("Continue from here as lane %1").arg(laneLetter(std::max(lane, 0))));
    m_fork->setToolTip(forkTip());
    m_fork->setVisible(forks);
    show();
}

void RestartNote::applyColors() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    QColor fill = colors.accent;
    fill.setAlpha(40);
    const QString style = QStringLiteral("#restartNote { background: rgba(%1,%2,%3,%4); border: 0; "
                                         "border-left: 4px solid %5; }")
                              .arg(fill.red())
                              .arg(fill.green())
                              .arg(fill.blue())
                              .arg(fill.alpha())
                              .arg(colors.accent.name());
    if (styleSheet() != style) setStyleSheet(style);
}

} // namespace halfscope
