// An undo command holds the experiment before and after an edit, or a lane's loss scale, which is
// no setting. One edit may change several settings (a precision brings its loss scaler), and all of
// them come back together.
#include "ui/session/edit_history.h"

#include "engine/scaler/scaler_presets.h"
#include "ui/models/translated.h"

#include <QUndoCommand>

#include <functional>
#include <memory>
#include <utility>

namespace halfscope {
namespace {

constexpr int kMostSteps = 100;

constexpr std::string_view kScalerKey = "scaler.preset";

/// Returns the setting that was edited, given two experiments with the same lanes: the first one
/// that differs, because the settings that an edit changes along with it stand behind it in the
/// table. Returns nullptr when there is none but the pace: it says how a training is watched, and
/// no number depends on it.
const ConfigModel::Row* editedRow(const ConfigModel& model, const RunConfig& before,
                                  const RunConfig& after) {
    const ConfigModel::Row* found = nullptr;
    for (int i = 0; i < model.rowCount(); ++i) {
        const ConfigModel::Row& row = model.row(i);
        const FieldValue now = row.field->get(after, row.lane);
        if (row.field->apply == FieldApply::Pace || row.field->get(before, row.lane) == now)
            continue;
        found = &row;
        // but changing a scaler's rule sets the scaler above it to "custom"
        if (row.field->key != kScalerKey || valueText(now) != kCustomScaler) break;
    }
    return found;
}

QString nameOf(const ConfigModel::Row& row) {
    const QString name = translated(row.field->label);
    return row.lane < 0 ? name : EditHistory::tr("%1 of lane %2").arg(name, QChar(u'A' + row.lane));
}

class UndoneEdit : public QUndoCommand {
public:
    using Restore = std::function<void(const ConfigModel::Edits& to, const RunConfig& from)>;

    /// `setting` names the setting: consecutive edits of the same one may be merged; empty: never.
    UndoneEdit(ConfigModel::Edits before, ConfigModel::Edits after, const QString& text,
               QString setting, Restore restore)
        : QUndoCommand(text), m_before(std::move(before)), m_after(std::move(after)),
          m_setting(std::move(setting)), m_restore(std::move(restore)) {}

    int id() const override { return m_setting.isEmpty() ? -1 : 1; }
    bool mergeWith(const QUndoCommand* newer) override {
        const auto* other = static_cast<const UndoneEdit*>(newer);
        if (other->m_setting != m_setting || !other->m_soon) return false;
        m_after = other->m_after;
        return true;
    }
    void setSoon(bool soon) { m_soon = soon; }
    EditStep step() const { return {m_before, m_after, text()}; }
    /// Returns an edit like it for another stack. It is merged with none before it.
    std::unique_ptr<UndoneEdit> again() const {
        return std::make_unique<UndoneEdit>(m_before, m_after, text(), m_setting, m_restore);
    }
    void undo() override { m_restore(m_before, m_after.config); }
    void redo() override {
        // the stack also calls it for an edit that was just made
        if (std::exchange(m_new, false)) return;
        m_restore(m_after, m_before.config);
    }

private:
    ConfigModel::Edits m_before, m_after;
    QString m_setting;
    Restore m_restore;
    bool m_new = true, m_soon = false;
};

/// Another loss scale of a running lane.
class UndoneScale : public QUndoCommand {
public:
    using GoTo = std::function<void(float scale)>;

    UndoneScale(const QString& text, float before, float after, GoTo goTo)
        : QUndoCommand(text), m_before(before), m_after(after), m_goTo(std::move(goTo)) {}

    void undo() override { m_goTo(m_before); }
    void redo() override {
        // the stack also calls it for an edit that was just made
        if (std::exchange(m_new, false)) return;
        m_goTo(m_after);
    }

private:
    float m_before, m_after;
    GoTo m_goTo;
    bool m_new = true;
};

} // namespace

EditHistory::EditHistory(ConfigModel& model, QObject* parent)
    : QObject(parent), m_model(model), m_known(model.edits()) {
    m_stack.setUndoLimit(kMostSteps);
    m_sinceEdit.start();
    connect(&model, &ConfigModel::loaded, this, [this] {
        m_stack.clear();
        m_known = m_model.edits();
    });
    connect(&model, &ConfigModel::building, this, &EditHistory::forgetScales);
    connect(&model, &ConfigModel::edited, this, &EditHistory::record);
}

void EditHistory::record() {
    ConfigModel::Edits now = m_model.edits();
    ConfigModel::Edits before = std::exchange(m_known, now);
    if (m_silent) return;
    const size_t lanes = now.config.lanes.size(), lanesBefore = before.config.lanes.size();
    QString text, setting;
    if (const auto edit = m_model.laneEdit(); edit != ConfigModel::LaneEdit::One) {
        if (m_model.isStill(before.config)) return;
        text = edit == ConfigModel::LaneEdit::Cells ? tr("Make lanes of cells")
                                                    : tr("Try several values");
    } else if (lanes != lanesBefore) {
        text = lanes > lanesBefore ? tr("Add a lane") : tr("Remove a lane");
    } else {
        const ConfigModel::Row* row = editedRow(m_model, before.config, now.config);
        if (!row) return;
        text = nameOf(*row);
        setting =
            QStringLiteral("%1:%2").arg(QString::fromStdString(row->field->key)).arg(row->lane);
    }
    push(std::move(before), std::move(now), text, setting);
}

// A stack takes a command from its middle only together with all of them, so the edits are put on
// it again. The entries of the menu would otherwise name a scale and undo the edit before it.
void EditHistory::forgetScales() {
    std::vector<std::unique_ptr<UndoneEdit>> edits;
    int done = 0; // of those edits; the others were undone
    for (int i = 0; i < m_stack.count(); ++i) {
        const auto* edit = dynamic_cast<const UndoneEdit*>(m_stack.command(i));
        if (!edit) continue;
        edits.push_back(edit->again());
        if (i < m_stack.index()) ++done;
    }
    if (static_cast<int>(edits.size()) == m_stack.count()) return;
    m_restacking = true;
    m_stack.clear();
    for (std::unique_ptr<UndoneEdit>& edit : edits)
        m_stack.push(edit.release());
    m_stack.setIndex(done);
    m_restacking = false;
}

bool EditHistory::hasScales() const {
    for (int i = 0; i < m_stack.index(); ++i)
        if (dynamic_cast<const UndoneScale*>(m_stack.command(i))) return true;
    return false;
}

KeptEdits EditHistory::kept() const {
    KeptEdits kept{m_model.edits(), {}};
    for (int i = 0; i < m_stack.index(); ++i)
        if (const auto* edit = dynamic_cast<const UndoneEdit*>(m_stack.command(i)))
            kept.steps.push_back(edit->step());
    return kept;
}

void EditHistory::takeOver(const KeptEdits& kept) {
    const int run = m_model.edits().builds;
    const auto here = [&](ConfigModel::Edits edits) {
        edits.builds = edits.builds == kept.now.builds ? run : ConfigModel::kNoBuild;
        return edits;
    };
    const ConfigModel::Edits now = here(kept.now);
    if (kept.steps.empty())
        return asOne(tr("Changes before the restart"), [&] { m_model.restore(now); });
    without([&] { m_model.restore(now); });
    for (const EditStep& step : kept.steps)
        push(here(step.before), here(step.after), step.text, {});
}

void EditHistory::setScale(int lane, float before, float after, const SetScale& set) {
    if (after == before) return;
    set(static_cast<double>(after));
    const auto goTo = [set](float scale) { set(static_cast<double>(scale)); };
    m_stack.push(std::make_unique<UndoneScale>(tr("Loss scale of lane %1").arg(QChar(u'A' + lane)),
                                               before, after, goTo)
                     .release());
}

void EditHistory::push(ConfigModel::Edits before, ConfigModel::Edits after, const QString& text,
                       const QString& setting) {
    auto command = std::make_unique<UndoneEdit>(
        std::move(before), std::move(after), text, setting,
        [this](ConfigModel::Edits to, const RunConfig& from) {
            if (m_restacking) return;
            to.config.pace = m_model.config().pace; // is not undone
            // the stop of the run is no part of an edit of something else: Continue moves it, too
            if (to.config.steps == from.steps && to.config.epochs == from.epochs) {
                to.config.steps = m_model.config().steps;
                to.config.epochs = m_model.config().epochs;
            }
            without([&] { m_model.restore(to); });
        });
    command->setSoon(m_sinceEdit.restart() < kTogetherMs);
    m_stack.push(command.release());
}

} // namespace halfscope
