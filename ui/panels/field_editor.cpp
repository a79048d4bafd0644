// One setting as a row. Every value goes through the model as text, so that panel, files and
// command line accept the same things.
#include "ui/panels/field_editor.h"

#include "engine/core/error.h"
#include "engine/data/known_facts.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "ui/dialogs/ask.h"
#include "ui/dialogs/get_data_dialog.h"
#include "ui/dialogs/model_dialog.h"
#include "ui/dialogs/types_dialog.h"
#include "ui/look/alert.h"
#include "ui/look/icons.h"
#include "ui/look/owned.h"
#include "ui/look/style.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/panels/count_box.h"
#include "ui/panels/path_edit.h"
#include "ui/panels/refused_choices.h"
#include "ui/session/target_choice.h"

#include <QActionGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QToolButton>
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace halfscope {
namespace {
constexpr int kLabelWidth = 118; // "Second optimizer" in bold
constexpr int kEffectWidth = 40;
constexpr double kSmallText = 0.8; // of the font, for the texts beside the settings
constexpr int kMostOfName = 48;    // characters of a column's name in the menu
constexpr std::string_view kLayersKey = "precision.layers";
constexpr std::string_view kModelKey = "model.layers";
constexpr std::string_view kCriticKey = "model.critic";
constexpr char kDataKey[] = "data.path";
constexpr char kTargetKey[] = "data.target";
constexpr char kDropKey[] = "data.drop";
constexpr std::string_view kThreadsKey = "run.threads";

/// Returns "steps", but "step" for 1.
QString unitFor(const Phrase& unit, int number) {
    struct Pair {
        Phrase many, one;
    };
    static constexpr Pair kPairs[] = {
        {phrase("Settings", "steps"), phrase("Settings", "step")},
        {phrase("Settings", "epochs"), phrase("Settings", "epoch")},
        {phrase("Settings", "batches"), phrase("Settings", "batch")},
        {phrase("Settings", "samples"), phrase("Settings", "sample")},
        {phrase("Settings", "pixels"), phrase("Settings", "pixel")},
        {phrase("Settings", "units"), phrase("Settings", "unit")},
        {phrase("Settings", "threads"), phrase("Settings", "thread")},
        {phrase("Settings", "overflows"), phrase("Settings", "overflow")},
    };
    for (const Pair& pair : kPairs)
        if (number == 1 && pair.many == unit) return translated(pair.one);
    return translated(unit);
}

/// Returns the width at which a box shows the longest of its choices.
int widthOf(const QComboBox& box) {
    QStyleOptionComboBox option;
    option.initFrom(&box);
    option.rect = QRect(0, 0, 200, box.sizeHint().height());
    const QRect room = box.style()->subControlRect(QStyle::CC_ComboBox, &option,
                                                   QStyle::SC_ComboBoxEditField, &box);
    constexpr int kAroundText = 4; // that styles leave beside the text
    int text = 0;
    for (int i = 0; i < box.count(); ++i)
        text = std::max(text, box.fontMetrics().horizontalAdvance(box.itemText(i)));
    return text + option.rect.width() - room.width() + kAroundText;
}
} // namespace

FieldEditor::FieldEditor(ConfigModel& model, int row, QWidget* parent)
    : QWidget(parent), m_model(model), m_index(model.index(row)) {
    const Field& field = *model.row(row).field;
    setObjectName(nameOf(model, row));
    buildControl(field);
    buildRow(field);
    connect(&model, &ConfigModel::settling, this, &FieldEditor::settle);
    refresh();
    applyColors();
}

void FieldEditor::buildControl(const Field& field) {
    const bool fitsSpin = field.kind == FieldKind::Integer &&
                          field.maximum <= std::numeric_limits<int>::max() &&
                          field.minimum >= std::numeric_limits<int>::min();
    if (field.kind == FieldKind::Bool) {
        m_control = m_check = make<QCheckBox>(this);
        connect(m_check, &QCheckBox::toggled, this,
                [this](bool on) { commit(on ? QStringLiteral("true") : QStringLiteral("false")); });
    } else if (field.kind == FieldKind::Choice) {
        m_control = m_combo = make<QComboBox>(this);
        for (const std::string& choice : field.choices)
            addChoice(choice, titleOfChoice(field, choice));
        describeChoices(*m_combo, field, m_model.config());
        m_combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        connect(m_combo, &QComboBox::currentTextChanged, this,
                [this] { commit(m_combo->currentData().toString()); });
    } else if (fitsSpin) {
        m_control = m_spin = make<CountBox>(this);
        m_spin->setRange(static_cast<int>(field.minimum), static_cast<int>(field.maximum));
        m_spin->setKeyboardTracking(false);
        if (field.logarithmic) m_spin->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
        m_unit = field.unit;
        if (field.key == kThreadsKey) m_spin->setSpecialValueText(tr("all"));
        connect(m_spin, &CountBox::valueChanged, this, [this](int value) {
            showUnit();
            commit(QString::number(value));
        });
        m_spin->keepRefused();
        connect(m_spin, &CountBox::refused, this, [this](const QString& typed) { commit(typed); });
        connect(m_spin, &CountBox::givenUp, this, &FieldEditor::giveUp);
        connect(m_spin, &CountBox::editingFinished, this, [this] {
            if (!m_spin->refuses()) giveUp(); // an earlier text: this number is fine
            endTyping();
        });
    } else {
        buildLineEdit(field);
    }
    if (m_combo) m_comboWidth = widthOf(*m_combo);
    m_control->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_control->setMinimumWidth(60);
    // A wheel that scrolls the panel must not change the setting that lies under the pointer. A
    // click gives the keyboard to what is typed in, or else to the row.
    m_control->setFocusPolicy(m_line || m_spin ? Qt::StrongFocus : Qt::TabFocus);
    setFocusPolicy(Qt::ClickFocus);
    m_control->installEventFilter(this);
}

/// Adds a choice under the name that the window has for it, if there is one.
void FieldEditor::addChoice(const std::string& choice, const Phrase& title) {
    const QString key = QString::fromStdString(choice);
    m_combo->addItem(title.empty() ? key : translated(title), key);
}

void FieldEditor::buildLineEdit(const Field& field) {
    const bool path = field.kind == FieldKind::Path;
    m_control = m_line = path ? make<PathEdit>(this) : make<QLineEdit>(this);
    connect(m_line, &QLineEdit::editingFinished, this, [this] {
        if (m_line->isModified()) {
            m_line->setModified(false); // finished: Undo means the setting from here on, no letters
            commit(m_line->text());
        }
        endTyping();
    });
    connect(m_line, &QLineEdit::textEdited, this, [this](const QString& text) {
        // the line's own undo may bring the value back
        if (text == m_index.data(Qt::EditRole).toString()) giveUp();
    });
    const bool layers = field.key == kLayersKey, critic = field.key == kCriticKey;
    const bool model = critic || field.key == kModelKey;
    const bool column = field.key == kTargetKey;
    if (!path && !layers && !model && !column) return;
    const QString name = translated(field.label);
    m_browse = make<QToolButton>(this);
    m_browse->setObjectName(QStringLiteral("browse"));
    m_browse->setText(model ? tr("Edit…") : layers || column ? tr("Choose…") : tr("Browse…"));
    m_browse->setFont(scaledFont(font(), kSmallText));
    m_browse->setAccessibleName(model              ? tr("Edit %1").arg(name)
                                : layers || column ? tr("Choose %1").arg(name)
                                                   : tr("Choose a file for %1").arg(name));
    m_browse->setToolTip(
        critic   ? tr("Write or paste a critic, and see the shape after each of its layers")
        : model  ? tr("Write or paste a network, and see the shape after each of its layers")
        : layers ? tr("Choose, for each layer of the network, the type in which it computes")
        : column
            ? tr("Choose the column to predict. The loss follows: cross-entropy where the column "
                 "holds classes, mse where it holds numbers.")
            : m_browse->accessibleName());
    connect(m_browse, &QToolButton::clicked, this, [this, model, layers] {
        model ? editNetwork({}) : layers ? chooseLayers() : browse();
    });
    if (column) {
        m_target = make<TargetChoice>(m_model, this);
        connect(m_target, &TargetChoice::named, this, &FieldEditor::showColumns);
    }
    if (field.key != kDataKey) return;
    m_get = make<QToolButton>(this);
    m_get->setObjectName(QStringLiteral("getData"));
    m_get->setText(tr("Get data…"));
    m_get->setToolTip(tr("Download MNIST or Fashion-MNIST and train on it"));
    connect(m_get, &QToolButton::clicked, this, &FieldEditor::getData);
}

void FieldEditor::buildRow(const Field& field) {
    const QString name = translated(field.label);
    const QString tip = m_index.data(Qt::ToolTipRole).toString();
    const bool live = field.effect == FieldEffect::Live;
    m_label = make<QLabel>(
        m_line && !field.unit.empty() ? tr("%1 (%2)").arg(name, translated(field.unit)) : name,
        this);
    m_label->setBuddy(m_control);
    m_label->setFixedWidth(kLabelWidth);
    m_label->setWordWrap(true);
    m_effect = make<QLabel>(live ? tr("live") : tr("restart"), this);
    m_effect->setFixedWidth(kEffectWidth);
    m_effect->setToolTip(live ? tr("Takes effect at the next step")
                              : tr("Takes effect when the run restarts"));
    m_effect->setAccessibleName(m_effect->toolTip());
    const QFont small = scaledFont(font(), kSmallText);
    m_effect->setFont(small);
    m_revert = make<QToolButton>(this);
    m_revert->setAutoRaise(true);
    m_revert->setIconSize({14, 14});
    m_revert->setFixedWidth(20);
    m_revert->setAccessibleName(tr("Reset %1").arg(name));
    QSizePolicy keepsPlace = m_revert->sizePolicy();
    keepsPlace.setRetainSizeWhenHidden(true);
    m_revert->setSizePolicy(keepsPlace);
    m_error = make<QLabel>(this);
    m_error->setWordWrap(true);
    // a very long word must not make the window wider
    m_error->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_error->setFont(small);
    m_note = make<QLabel>(this);
    m_note->setObjectName(QStringLiteral("note"));
    m_note->setWordWrap(true);
    m_note->setTextFormat(Qt::PlainText);
    m_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_note->setFont(small);
    for (QWidget* widget : {static_cast<QWidget*>(m_label), m_control})
        widget->setToolTip(tip);
    m_control->setAccessibleName(
        field.unit.empty() ? name : tr("%1 in %2").arg(name, translated(field.unit)));
    setAccessibleName(m_control->accessibleName());
    connect(m_revert, &QToolButton::clicked, this,
            [this] { m_model.resetToPreset(m_index.row()); });

    auto* grid = m_grid = make<QGridLayout>(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(4);
    grid->setVerticalSpacing(1);
    grid->addWidget(m_label, 0, 0);
    grid->addWidget(m_effect, 0, 2);
    grid->addWidget(m_revert, 0, 3);
    if (m_browse) { // long texts have a row of their own
        grid->addWidget(m_browse, 0, 1, Qt::AlignRight);
        grid->addWidget(m_control, 1, 0, 1, 4);
    } else {
        grid->addWidget(m_control, 0, 1);
    }
    if (m_get) grid->addWidget(m_get, 2, 0, 1, 4, Qt::AlignLeft);
    grid->addWidget(m_error, 3, 0, 1, 4);
    grid->addWidget(m_note, 4, 0, 1, 4);
    grid->setColumnStretch(1, 1);
}

/// Gives choices a row of their own where the longest one has no room beside the name.
void FieldEditor::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (!m_combo) return;
    const int beside =
        kLabelWidth + kEffectWidth + m_revert->width() + 3 * m_grid->horizontalSpacing();
    const bool below = width() - beside < m_comboWidth;
    if (std::exchange(m_comboBelow, below) == below) return;
    m_grid->removeWidget(m_combo);
    m_grid->addWidget(m_combo, below ? 1 : 0, below ? 0 : 1, 1, below ? 4 : 1);
}

void FieldEditor::commit(const QString& text) {
    if (!m_index.isValid()) return;
    // retyping the present value is an edit only when it clears an earlier error
    if (text == m_index.data(Qt::EditRole).toString() && errorText().isEmpty()) return;
    if (m_target) return m_target->choose(text.trimmed());
    if (qobject_cast<PathEdit*>(m_control)) rememberFolder(FilesOf::Data, text);
    m_model.setData(m_index, text);
}

/// Takes back what was refused: the control shows the value in force again.
void FieldEditor::giveUp() {
    if (refusal().isEmpty()) return;
    m_model.setData(m_index, m_index.data(Qt::EditRole));
}

/// Takes what is being typed before a run begins.
void FieldEditor::settle() {
    if (m_spin) m_spin->finish();
    if (!m_line || !m_line->isModified()) return;
    m_line->setModified(false);
    commit(m_line->text());
}

/// Gives the keyboard to the row after Enter, unless the value has to be corrected.
void FieldEditor::endTyping() {
    if (m_control->hasFocus() && errorText().isEmpty()) setFocus();
}

void FieldEditor::mousePressEvent(QMouseEvent* event) {
    QWidget::mousePressEvent(event);
    if (m_line || m_spin) m_control->setFocus(Qt::TabFocusReason); // selects what stands there
}

bool FieldEditor::focusNextPrevChild(bool next) {
    if (hasFocus()) m_control->setFocus(); // Tab goes on from the control
    return QWidget::focusNextPrevChild(next);
}

void FieldEditor::browse() {
    if (m_target) return m_target->readNames();
    const QString key = m_index.data(ConfigModel::KeyRole).toString();
    if (key.startsWith(QStringLiteral("data."))) return browseData(key);
    const bool weights = key == QLatin1String("model.weights");
    const bool policy = key == QLatin1String("precision.policy");
    const QString path = chooseSource(this, FilesOf::Data,
                                      weights  ? tr("Choose a file with weights")
                                      : policy ? tr("Choose a policy file")
                                               : tr("Choose a picture"),
                                      weights  ? tr("Weights (*.safetensors);;All files (*)")
                                      : policy ? tr("Policies (*.json);;All files (*)")
                                               : tr("Pictures (*.png *.jpg *.jpeg);;All files (*)"),
                                      m_line->text());
    if (!path.isEmpty()) m_model.setData(m_index, path);
}

/// Whether data can be downloaded: those of MNIST's kind, while no folder is named.
bool FieldEditor::mayGetData() const {
    const TaskConfig& task = m_model.config().task;
    return task.kind == TaskKind::Mnist && task.path.empty();
}

/// Whether the setting is the path of the data, or of their inputs.
bool FieldEditor::namesData() const {
    const QString key = m_index.data(ConfigModel::KeyRole).toString();
    return key == QLatin1String(kDataKey) || key == QLatin1String("data.x");
}

/// Says why the data cannot be used, beside their path: a wrong path is reported before a run needs
/// it.
QString FieldEditor::problemText() const {
    const TaskConfig& task = m_model.config().task;
    const QString key = m_index.data(ConfigModel::KeyRole).toString();
    constexpr std::array<const char*, 8> kToldThere{
        kTargetKey,   kDropKey,     "data.validation_path", "data.test_path",
        "data.x_val", "data.y_val", "data.x_test",          "data.y_test"};
    const bool own = std::ranges::any_of(
        kToldThere, [&key](const char* each) { return key == QLatin1String(each); });
    if (!own && (!namesData() || !namesFiles(task))) return {};
    if (!applies()) return {};
    const std::optional<Message> problem = factsProblem(taskOf(m_model.config()));
    if (!problem) return {};
    // a wrong name of a column, or of another file, is told where it was typed
    const QString english = QString::fromStdString(problem->english());
    const auto blames = [&english](const QString& setting) {
        return english.startsWith(setting + QLatin1String(": "));
    };
    const bool elsewhere = !own && std::ranges::any_of(kToldThere, [&](const char* each) {
        return blames(QLatin1String(each));
    });
    if (elsewhere || (own && !blames(key))) return {};
    const QString text = translated(*problem);
    const Field* field = findField(key.toStdString());
    const QString name = field ? labelInWindow(*field) + QLatin1String(": ") : QString();
    return text.startsWith(name) ? text.mid(name.size()) : text;
}

/// Returns what became of the data, a sentence on each line. It stands beside their path, or beside
/// the setting that leaves lines out or fills them, or that of several readers. While the data are
/// being read, the note beside the path says so.
QString FieldEditor::noteText() const {
    const QString key = m_index.data(ConfigModel::KeyRole).toString();
    const TaskConfig& task = m_model.config().task;
    const bool missing = key == QLatin1String("data.missing") && task.missing != Missing::Refuse;
    const bool readers = key == QLatin1String("data.shard_readers") && task.shardReaders > 1;
    if (namesData() && applies() && factsPending(taskOf(m_model.config())))
        return tr("Reading the data…");
    const bool path = namesData() && namesFiles(task) && task.shardReaders == 1 &&
                      (task.kind != TaskKind::Csv || task.missing == Missing::Refuse);
    if ((!missing && !readers && !path) || !applies()) return {};
    const std::optional<DataFacts> facts = knownFactsOf(m_model.config());
    QStringList notes;
    if (facts)
        for (const Message& note : facts->notes)
            notes << translated(note);
    if (notes.size() < 2) return notes.join(u'\n');
    for (QString& note : notes)
        note.prepend(QStringLiteral("• "));
    return notes.join(u'\n');
}

/// Proposes the data that the preset is about.
void FieldEditor::getData() {
    auto* dialog = make<GetDataDialog>(publicData(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    for (const PublicData& each : publicData())
        if (presetNamed(each.preset).config.title == m_model.config().title)
            dialog->choose(each.name);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { commit(dialog->folder()); });
    dialog->open(); // training goes on
}

/// Asks for a folder for MNIST, CIFAR and pictures, and for a file for other data sets.
void FieldEditor::browseData(const QString& key) {
    const TaskKind kind = m_model.config().task.kind;
    const bool folder =
        key == QLatin1String(kDataKey) &&
        (kind == TaskKind::Mnist || kind == TaskKind::Cifar || kind == TaskKind::Pictures);
    const QString path =
        folder ? chooseSourceFolder(this, FilesOf::Data, tr("Choose the folder with the data"),
                                    m_line->text())
               : chooseSource(this, FilesOf::Data, tr("Choose a file with data"),
                              kind == TaskKind::Shards ? tr("Shards (*.tar);;All files (*)")
                              : kind == TaskKind::Text ? tr("Texts (*.txt);;All files (*)")
                              : key.endsWith(QLatin1String("path"))
                                  ? tr("Tables (*.csv *.tsv *.data *.csv.gz *.tsv.gz *.data.gz);;"
                                       "All files (*)")
                                  : tr("Arrays (*.npy *.npz *.safetensors);;All files (*)"),
                              m_line->text());
    if (path.isEmpty()) return;
    const QString before = m_index.data(Qt::EditRole).toString();
    if (m_model.setData(m_index, path) && namesData() && path != before) emit dataChosen(path);
}

void FieldEditor::chooseLayers() {
    TypesDialog::open(m_model, m_index.data(ConfigModel::LaneRole).toInt(), *window());
}

/// Lists the columns below the button; the one that is predicted has a mark.
void FieldEditor::showColumns(const QStringList& columns) {
    if (!isVisible()) return;
    auto* menu = make<QMenu>(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    auto* one = make<QActionGroup>(menu);
    const QString now = m_line->text();
    menu->setToolTipsVisible(true);
    const int most = kMostOfName * menu->fontMetrics().averageCharWidth();
    for (const QString& name : columns) {
        const QString full = safeText(name.toStdString());
        QString text = menu->fontMetrics().elidedText(full, Qt::ElideMiddle, most);
        QAction* action = menu->addAction(text.replace('&', QLatin1String("&&")), this,
                                          [this, name] { m_target->choose(name); });
        action->setToolTip(full);
        action->setCheckable(true);
        one->addAction(action);
        action->setChecked(name == (now.isEmpty() ? columns.back() : now));
    }
    if (columns.isEmpty()) menu->addAction(tr("The columns cannot be read"))->setEnabled(false);
    menu->popup(m_browse->mapToGlobal(QPoint(0, m_browse->height())));
}

void FieldEditor::editNetwork(const QString& text) {
    const bool critic = m_index.data(ConfigModel::KeyRole).toString().toStdString() == kCriticKey;
    auto* dialog = make<ModelDialog>(
        m_model.config(), critic ? ModelDialog::Network::Critic : ModelDialog::Network::Model,
        this);
    if (!text.isEmpty()) dialog->write(text);
    connect(&m_model, &ConfigModel::edited, dialog, &ModelDialog::lookForData);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { commit(dialog->text()); });
    dialog->open(); // training goes on
}

QString FieldEditor::nameOf(const ConfigModel& model, int row) {
    const QModelIndex index = model.index(row);
    return QStringLiteral("field:%1:%2")
        .arg(index.data(ConfigModel::KeyRole).toString())
        .arg(index.data(ConfigModel::LaneRole).toInt());
}

bool FieldEditor::applies() const { return m_index.data(ConfigModel::AppliesRole).toBool(); }
QString FieldEditor::errorText() const { return m_error->text(); }
QString FieldEditor::refusal() const { return m_index.data(ConfigModel::ErrorRole).toString(); }

void FieldEditor::reload(int row) {
    m_index = m_model.index(row);
    if (m_line) m_line->setModified(false);
    refresh();
}

void FieldEditor::refresh() {
    if (!m_index.isValid()) return;
    const QString refused = refusal();
    const QString error = refused.isEmpty() ? problemText() : refused;
    const bool changed = m_index.data(ConfigModel::ChangedRole).toBool();
    // what the user typed stays while it is wrong or unfinished
    const bool typing = m_line && m_line->hasFocus() && m_line->isModified();
    if (refused.isEmpty() && !typing) showValue(m_index.data(Qt::EditRole).toString());
    QString shown = error;
    if (refused.isEmpty()) shown.replace(u'/', QStringLiteral("/\u200b")); // long paths break there
    m_error->setText(shown);
    m_error->setVisible(!error.isEmpty());
    const Field& field = *m_model.row(m_index.row()).field;
    if (field.obstacle && m_combo) describeChoices(*m_combo, field, m_model.config());
    if (m_get) m_get->setVisible(mayGetData());
    const QString note = error.isEmpty() ? noteText() : QString();
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
    describe(refused.isEmpty() ? error : tr("Not accepted. %1").arg(refused));
    OutlinedStyle::frameAsWrong(*m_control, !error.isEmpty());
    QFont bold = m_label->font();
    bold.setBold(changed);
    m_label->setFont(bold);
    bold.setBold(true); // keep the room of the bold form: an edit must move no row below it
    m_label->setMinimumHeight(heightOf(m_label->text(), bold, kLabelWidth));
    m_revert->setVisible(changed);
    m_revert->setToolTip(tr("Reset to %1").arg(m_model.presetText(m_index.row())));
    QFont effect = m_effect->font();
    effect.setBold(m_index.data(ConfigModel::WaitingRole).toBool());
    m_effect->setFont(effect);
    // Qt would hand the keyboard to the next box, in which the next key would change a setting
    if (!applies() && focusWidget()) focusWidget()->clearFocus();
    setVisible(applies());
}

/// Describes what the row shows next to the control, for people who cannot see it.
void FieldEditor::describe(const QString& problem) {
    QStringList parts{m_index.data(Qt::ToolTipRole).toString(), m_effect->toolTip()};
    if (!problem.isEmpty()) parts.prepend(problem);
    const QString description = parts.join(u'\n');
    if (description == m_control->accessibleDescription()) return;
    m_control->setAccessibleDescription(description);
    if (!refusal().isEmpty()) alertAbout(*m_control);
}

void FieldEditor::showValue(const QString& text) {
    const QSignalBlocker quiet(m_control);
    if (m_check) m_check->setChecked(text == QLatin1String("true"));
    if (m_combo && m_combo->findData(text) < 0) addChoice(text.toStdString(), {}); // not offered
    if (m_combo) m_combo->setCurrentIndex(m_combo->findData(text));
    if (m_spin) m_spin->showNumber();
    if (m_spin) m_spin->setValue(text.toInt());
    if (m_spin) showUnit();
    if (m_spin) m_spin->setWords(m_index.data(ConfigModel::UnknownRole).toString());
    if (m_line && m_line->text() != text) m_line->setText(text);
    if (m_line) m_line->setModified(false);
    if (m_line && !m_line->hasFocus()) m_line->setCursorPosition(0); // a long text from its start
    showTip();
}

/// Puts the path, which may be longer than the line, before the setting's tip.
void FieldEditor::showTip() {
    QString tip = m_index.data(Qt::ToolTipRole).toString();
    const auto* path = qobject_cast<PathEdit*>(m_control);
    if (path && !path->text().isEmpty()) tip = tr("%1\n%2").arg(path->text(), tip);
    if (Qt::mightBeRichText(tip)) tip = Qt::convertFromPlainText(tip, Qt::WhiteSpaceNormal);
    if (tip != m_control->toolTip()) m_control->setToolTip(tip);
}

void FieldEditor::showUnit() {
    if (m_unit.empty()) return;
    m_spin->setUnit(u' ' + unitFor(m_unit, m_spin->value()));
}

bool FieldEditor::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Wheel && !m_control->hasFocus()) {
        event->ignore();
        return true;
    }
    const bool escape = event->type() == QEvent::KeyPress &&
                        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
    const QString valid = escape ? m_index.data(Qt::EditRole).toString() : QString();
    // where nothing is to be given up, Esc is the window's
    if (escape && ((m_line && (m_line->text() != valid || !refusal().isEmpty())) ||
                   (m_spin && m_spin->refuses()))) {
        if (m_line) m_line->setModified(false);
        m_model.setData(m_index, valid);
        showValue(valid);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void FieldEditor::changeEvent(QEvent* event) {
    if ((event->type() == QEvent::PaletteChange ||
         event->type() == QEvent::ApplicationPaletteChange) &&
        m_revert)
        applyColors();
    QWidget::changeEvent(event);
}

void FieldEditor::applyColors() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    m_revert->setIcon(themedIcon(QStringLiteral("revert"), colors.text));
    // settings that act at once stand out among the many that wait
    const bool live = m_index.data(ConfigModel::LiveRole).toBool();
    setOwnColor(*m_effect, QPalette::WindowText, live ? colors.accent : colors.muted);
    setOwnColor(*m_error, QPalette::WindowText, colors.error);
}

} // namespace halfscope
