// The choice of settings above, the map below; both scroll where the screen is small.
#include "ui/dialogs/grid_dialog.h"
#include "ui/dialogs/figure_menu.h"

#include "engine/core/error.h"
#include "engine/settings/run_length.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/look/wheel.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/models/suggested_values.h"
#include "ui/models/translated.h"

#include <QAbstractItemView>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QGuiApplication>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QShowEvent>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {

constexpr int64_t kUsualSteps = 300; // enough to see what a scaler does at the beginning
constexpr size_t kSuggested = 5;     // values
constexpr int kAround = 2;           // of them on either side of the present one
constexpr int kMostSteps = 1'000'000;
const QString kFirstScale = QStringLiteral("scaler.init_scale");
const QString kGrowth = QStringLiteral("scaler.growth_interval");

/// Returns the experiment with one of its lanes alone.
RunConfig onlyLane(const RunConfig& config, int lane) {
    RunConfig only = config;
    only.lanes = {config.lanes.at(static_cast<size_t>(lane))};
    forgetLanes(only);
    return only;
}

/// Chooses the entry with this data, if there is one.
void choose(QComboBox& box, const QVariant& data) {
    if (const int at = box.findData(data); at >= 0) box.setCurrentIndex(at);
}

} // namespace

GridDialog::GridDialog(ConfigModel& config, QWidget* parent, PresentScale scaleOf,
                       std::function<QString()> titleNow)
    : FigureDialog(parent), m_config(config), m_scaleOf(std::move(scaleOf)),
      m_titleNow(std::move(titleNow)) {
    setWindowTitle(tr("Map of two settings"));
    auto* content = make<QWidget>();
    auto* column = make<QVBoxLayout>(content);
    column->setContentsMargins(0, 0, 0, 0);
    auto* about = make<QLabel>(
        tr("Trains one lane with every combination of the values, each from the same weights and "
           "on the same batches. The map trains beside the window; while both train, they share "
           "the processor."),
        this);
    about->setWordWrap(true);
    column->addWidget(about);
    column->addWidget(makeChoices());
    addMap(*column);
    auto* area = make<QScrollArea>(this);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus); // controls scroll into view as Tab reaches them
    area->setWidget(content);
    auto* all = make<QVBoxLayout>(this);
    all->addWidget(area, 1);
    addButtons(*all);
    connect(&m_config, &ConfigModel::edited, this, &GridDialog::refreshLanes);
    connect(&m_config, &ConfigModel::loaded, this, [this] {
        m_otherExperiment = m_model.grid().has_value();
        updateButtons();
    });
    for (QComboBox* each : {m_lane, m_first.field, m_second.field, m_measure})
        leaveWheelAlone(*each);
    refreshLanes();
    choose(*m_first.field, kFirstScale);
    choose(*m_second.field, kGrowth);
    decideMeasure();
    showCell();
    constexpr int kWidth = 105, kLines = 42; // characters
    const QSize room = 9 * screen()->availableSize() / 10;
    resize(std::min(room.width(), kWidth * fontMetrics().averageCharWidth()),
           std::min(room.height(), kLines * fontMetrics().lineSpacing()));
    m_first.values->setFocus();
    m_first.values->selectAll();
}

GridDialog::~GridDialog() = default;

QList<QWidget*> GridDialog::figure() const { return {m_measure, m_axes, m_view, m_legend, m_cell}; }

QWidget* GridDialog::makeChoices() {
    auto* box = make<QWidget>(this);
    auto* grid = make<QGridLayout>(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setColumnStretch(3, 1);
    m_lane = make<QComboBox>(this);
    m_lane->setAccessibleName(tr("Lane"));
    m_lane->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_laneLabel = make<QLabel>(tr("&Lane:"), this);
    m_laneLabel->setBuddy(m_lane);
    grid->addWidget(m_laneLabel, 0, 0);
    grid->addWidget(m_lane, 0, 1, 1, 3);
    m_first = addAxis(*grid, 1, tr("&First setting:"), tr("&Values:"));
    m_second = addAxis(*grid, 2, tr("S&econd setting:"), tr("Val&ues:"));
    m_first.field->setAccessibleName(tr("First setting"));
    m_first.values->setAccessibleName(tr("Values of the first setting, separated by commas"));
    m_second.field->setAccessibleName(tr("Second setting"));
    m_second.values->setAccessibleName(tr("Values of the second setting, separated by commas"));
    m_steps = make<QSpinBox>(this);
    m_steps->setRange(1, kMostSteps);
    m_steps->setGroupSeparatorShown(true);
    m_steps->setValue(
        static_cast<int>(std::clamp<int64_t>(stepsOf(m_config.config()), 1, kUsualSteps)));
    m_steps->setAccessibleName(tr("Steps of each training"));
    connect(m_steps, &QSpinBox::valueChanged, this, &GridDialog::check);
    auto* label = make<QLabel>(tr("S&teps:"), this);
    label->setBuddy(m_steps);
    grid->addWidget(label, 3, 0);
    grid->addWidget(m_steps, 3, 1);
    m_start = make<QPushButton>(tr("&Start"), this);
    m_start->setObjectName(QStringLiteral("gridStart"));
    m_start->setDefault(true);
    connect(m_start, &QPushButton::clicked, this, &GridDialog::startOrStop);
    grid->addWidget(m_start, 3, 2);
    m_progress = make<QProgressBar>(this);
    m_progress->setAccessibleName(tr("Progress"));
    m_progress->setRange(0, 1);
    m_progress->setFormat({});
    // empty, it would look like a box to type in; its room stays, so that nothing moves
    QSizePolicy policy = m_progress->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_progress->setSizePolicy(policy);
    grid->addWidget(m_progress, 3, 3);
    m_progress->hide();
    m_note = make<QLabel>(this);
    m_note->setObjectName(QStringLiteral("gridNote"));
    m_note->setWordWrap(true);
    grid->addWidget(m_note, 4, 0, 1, 4);
    connect(m_lane, &QComboBox::currentIndexChanged, this, &GridDialog::refreshFields);
    return box;
}

GridDialog::Axis GridDialog::addAxis(QGridLayout& grid, int row, const QString& label,
                                     const QString& valuesLabel) {
    Axis axis{make<QComboBox>(this), make<QLineEdit>(this)};
    const auto add = [&](const QString& text, QWidget* control, int column) {
        auto* name = make<QLabel>(text, this);
        name->setBuddy(control);
        grid.addWidget(name, row, column);
        grid.addWidget(control, row, column + 1);
    };
    constexpr int kName = 14; // characters; the values need the room more
    axis.field->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    axis.field->setMinimumContentsLength(kName);
    add(label, axis.field, 0);
    add(valuesLabel, axis.values, 2);
    connect(axis.field, &QComboBox::currentIndexChanged, this, [this, axis] { suggest(axis); });
    connect(axis.values, &QLineEdit::textChanged, this, &GridDialog::check);
    return axis;
}

void GridDialog::addMap(QVBoxLayout& column) {
    auto* row = make<QHBoxLayout>();
    m_measure = make<QComboBox>(this);
    m_measure->setAccessibleName(tr("What the map shows"));
    connect(m_measure, &QComboBox::activated, this, [this] {
        m_chosen = static_cast<GridModel::Measure>(m_measure->currentData().toInt());
        m_model.show(*m_chosen);
        m_legend->refresh();
    });
    m_measure->view()->installEventFilter(this);
    auto* label = make<QLabel>(tr("S&how:"), this);
    label->setBuddy(m_measure);
    m_axes = make<QLabel>(this);
    row->addWidget(label);
    row->addWidget(m_measure);
    row->addSpacing(2 * fontMetrics().averageCharWidth());
    row->addWidget(m_axes, 1);
    column.addLayout(row);
    m_view = make<GridView>(m_model, this);
    m_view->setAccessibleName(tr("Map"));
    connect(m_view, &GridView::chosen, this, &GridDialog::showCell);
    connect(m_view, &GridView::copyAsked, this, &GridDialog::copy);
    column.addWidget(m_view, 1);
    m_legend = make<GridLegend>(m_model, this);
    column.addWidget(m_legend);
    make<FigureMenu>(*m_view, FigureMenu::Figure{
                                  QStringLiteral("map"), [this] { return caption(); }, {m_legend}});
    m_cell = make<QLabel>(this);
    m_cell->setWordWrap(true);
    m_cell->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_cell->setObjectName(QStringLiteral("gridCell"));
    m_cell->installEventFilter(this);
    keepRoomForCell();
    column.addWidget(m_cell);
}

/// Keeps room from the start: the buttons must not move under the pointer.
void GridDialog::keepRoomForCell() {
    constexpr int kLines = 3;
    m_cell->setMinimumHeight(kLines * m_cell->fontMetrics().lineSpacing());
}

void GridDialog::addButtons(QVBoxLayout& column) {
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Close, this);
    const auto add = [&](const QString& text, void (GridDialog::*act)()) {
        QPushButton* button = buttons->addButton(text, QDialogButtonBox::ActionRole);
        connect(button, &QPushButton::clicked, this, act);
        return button;
    };
    m_lanes = add(tr("M&ake lanes of the selected cells"), &GridDialog::makeLanes);
    m_copy = add(tr("Cop&y"), &GridDialog::copy);
    m_save = add(tr("Save…"), &GridDialog::save);
    m_copy->setToolTip(tr("Copies the table as it is shown, for a spreadsheet"));
    m_save->setToolTip(tr("Saves all figures of all cells as a csv table"));
    for (QAbstractButton* each : buttons->buttons()) // Enter in a box of values starts the map
        static_cast<QPushButton*>(each)->setAutoDefault(false);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column.addWidget(buttons);
}

/// Offers the lanes, and keeps what is chosen where that is possible.
void GridDialog::refreshLanes() {
    const RunConfig& config = m_config.config();
    const QStringList titles = laneTitles(config);
    QVariant wanted = m_lane->currentData();
    {
        const QSignalBlocker quiet(m_lane);
        m_lane->clear();
        for (int lane = 0; lane < titles.size(); ++lane) {
            m_lane->addItem(laneLabel(lane, titles[lane]), lane);
            // one with a loss scaler is why most people come here
            if (!wanted.isValid() && laneScales(config, lane)) wanted = lane;
        }
        choose(*m_lane, wanted);
    }
    for (QWidget* each : {static_cast<QWidget*>(m_lane), static_cast<QWidget*>(m_laneLabel)})
        each->setVisible(m_lane->count() > 1);
    refreshFields();
}

int GridDialog::lane() const { return m_lane->currentData().toInt(); }

void GridDialog::refreshFields() {
    const std::vector<const Field*> fields =
        sweptFields(onlyLane(m_config.config(), lane()), SweptBy::Trainings);
    for (const Axis& axis : {m_first, m_second}) {
        const QVariant before = axis.field->currentData();
        const QSignalBlocker quiet(axis.field);
        axis.field->clear();
        if (axis.field == m_second.field) axis.field->addItem(tr("none"), QString());
        for (const Field* field : fields)
            axis.field->addItem(translated(field->label), QString::fromStdString(field->key));
        choose(*axis.field, before);
        if (axis.field->currentData() != before) suggest(axis);
    }
    check();
}

void GridDialog::suggest(const Axis& axis) {
    const Field* field = findField(axis.field->currentData().toString().toStdString());
    axis.values->setEnabled(field != nullptr);
    QStringList values;
    const std::optional<double> scale = m_scaleOf ? m_scaleOf(lane()) : std::nullopt;
    if (field)
        values = suggestedValues(*field, m_config.config(), lane(), kSuggested, kAround, scale);
    // of intervals that no training reaches, one is enough
    const auto isBeyond = [&](qsizetype i) { return values[i].toLongLong() > m_steps->value(); };
    const bool counts = field && std::string_view(field->unit.text()) == "steps";
    while (counts && values.size() > 1 && isBeyond(values.size() - 2))
        values.removeLast();
    axis.values->setText(values.join(QStringLiteral(", ")));
    check();
}

SettingGrid GridDialog::chosenGrid() const {
    if (const QString never = m_config.cannotTrain(); !never.isEmpty())
        throw InputError(Message::data(never.toStdString()));
    std::vector<Sweep> sweeps;
    for (const Axis& axis : {m_first, m_second})
        if (const QString key = axis.field->currentData().toString(); !key.isEmpty())
            sweeps.push_back(
                parseSweep((key + u'=' + axis.values->text()).toStdString(), SweptBy::Trainings));
    return {m_config.config(), static_cast<size_t>(lane()), std::move(sweeps), m_steps->value()};
}

/// Names the chosen lane, but for the settings that vary.
QString GridDialog::laneOf(const SettingGrid& grid) const {
    std::vector<const Field*> varied;
    for (const Sweep& sweep : grid.sweeps())
        varied.push_back(sweep.field);
    return laneLabel(lane(), laneTitleWithout(m_config.config(), lane(), varied));
}

/// Names the experiment, the lane and the steps of each training.
QString GridDialog::trainingOf(const SettingGrid& grid) const {
    const int64_t steps = stepsOf(grid.base());
    QStringList words{m_titleNow ? m_titleNow() : QString(), laneOf(grid),
                      steps == 1
                          ? tr("1 step")
                          : tr("%1 steps").arg(QLocale().toString(static_cast<qlonglong>(steps)))};
    words.removeAll(QString());
    return words.join(QStringLiteral(" · "));
}

/// Returns what stands above the map's pictures. Before the first map there is only a measure.
QString GridDialog::caption() const {
    const QString measure = GridModel::nameOf(m_model.shown());
    if (m_trained.isEmpty()) return measure;
    return m_trained + u'\n' + tr("%1 · %2").arg(measure, m_model.axes());
}

/// Tells what Start would train, or why it cannot.
void GridDialog::check() {
    if (running() || !m_start) return;
    bool fits = false;
    QString text;
    try {
        const SettingGrid grid = chosenGrid();
        const QString steps = m_steps->value() == 1
                                  ? tr("1 step")
                                  : tr("%1 steps").arg(QLocale().toString(m_steps->value()));
        text = grid.cells() == 1
                   ? tr("1 training of %1, %2.").arg(laneOf(grid), steps)
                   : tr("%1 trainings of %2, %3 each.")
                         .arg(QLocale().toString(static_cast<qulonglong>(grid.cells())),
                              laneOf(grid), steps);
        if (const Message idle = idleInCells(grid); !idle.empty())
            text = tr("%1 %2.", "two sentences").arg(text, translated(idle));
        fits = true;
    } catch (const InputError& error) {
        text = translated(error);
    }
    m_start->setEnabled(fits);
    // the window may change something else: the note about what was done last is still true
    if (const bool same = std::exchange(m_checked, text) == text; !fits || !same) tell(text, !fits);
}

QString GridDialog::note() const { return m_note->text(); }

void GridDialog::tell(const QString& text, bool wrong) {
    m_wrong = wrong;
    m_note->setText(text);
    for (const Axis& axis : {m_first, m_second})
        axis.values->setAccessibleDescription(text);
    const Colors colors = colorsFor(QGuiApplication::palette());
    setOwnColor(*m_note, QPalette::WindowText, wrong ? colors.error : colors.text);
}

/// Enter starts the map, but not for who chooses what it shows: that would discard it.
void GridDialog::keyPressEvent(QKeyEvent* event) {
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (enter && focusWidget() == m_measure) return m_measure->showPopup();
    QDialog::keyPressEvent(event);
}

/// Training may have found another scale since the values were suggested.
void GridDialog::showEvent(QShowEvent* event) {
    if (!event->spontaneous() && !m_model.grid())
        for (const Axis& axis : {m_first, m_second})
            if (!axis.values->isModified()) {
                suggest(axis);
                axis.values->selectAll(); // typing replaces it
            }
    QDialog::showEvent(event);
}

void GridDialog::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_note) tell(m_note->text(), m_wrong);
    QDialog::changeEvent(event);
}

void GridDialog::startOrStop() {
    if (!running()) return start();
    m_job->stop();
    m_stopHadFocus = m_start->hasFocus();
    m_start->setEnabled(false); // it ends with its step
}

void GridDialog::done(int result) {
    if (m_job) m_job->stop();
    QDialog::done(result);
}

void GridDialog::start() {
    std::optional<SettingGrid> grid;
    try {
        grid = chosenGrid();
    } catch (const InputError& error) {
        return tell(translated(error), true);
    }
    m_otherExperiment = false;
    tell(m_checked, false); // the note about the map before is of no use now
    m_model.begin(*grid);
    m_trained = trainingOf(*grid); // another lane may be chosen later
    decideMeasure();
    m_axes->setText(m_lane->count() > 1 ? tr("%1. %2").arg(laneOf(*grid), m_model.axes())
                                        : m_model.axes()); // another lane may be chosen later
    showCell();
    m_progress->setRange(0, 0); // busy until the first step
    m_progress->show();
    m_start->setText(tr("&Stop"));
    m_start->setDefault(false); // Enter must not stop what it has started
    m_clock.start();
    m_job = std::make_unique<GridJob>(*std::move(grid));
    connect(m_job.get(), &GridJob::trained, this, &GridDialog::takeResult);
    connect(m_job.get(), &GridJob::progressed, this, &GridDialog::showProgress);
    connect(m_job.get(), &GridJob::ended, this, [this] {
        const size_t all = m_model.cells().size(), done = m_model.trained();
        const double seconds = static_cast<double>(m_clock.elapsed()) / 1000;
        conclude(done == all ? tr("Trained in %1 s.").arg(shownNumber(seconds, 2))
                             : tr("Stopped. Trained cells: %1 of %2.")
                                   .arg(countText(static_cast<int64_t>(done)),
                                        countText(static_cast<int64_t>(all))),
                 false);
    });
    connect(m_job.get(), &GridJob::failed, this,
            [this](const Message& reason) { conclude(translated(reason), true); });
    m_job->start();
    updateButtons();
}

void GridDialog::takeResult(int cell, const GridCell& result) {
    m_model.set(static_cast<size_t>(cell), result);
    // what decides may change with each cell, and the map must not; what the user has chosen is
    // shown once a cell has it
    const bool comes =
        m_chosen && m_model.shown() != *m_chosen && m_model.measures().contains(*m_chosen);
    m_model.trained() == 1 || comes ? decideMeasure() : offerMeasures();
    m_legend->refresh();
    showCell();
}

void GridDialog::showProgress(int cell, qint64 steps) {
    const auto cells = static_cast<double>(m_model.cells().size());
    const auto length = static_cast<double>(std::max<int64_t>(1, stepsOf(m_model.grid()->base())));
    const double share = (cell + static_cast<double>(steps) / length) / cells;
    if (!(share > 0)) return;
    constexpr int kParts = 1000;
    m_progress->setRange(0, kParts);
    m_progress->setValue(static_cast<int>(kParts * share));
    const double left = static_cast<double>(m_clock.elapsed()) / 1000 * (1 / share - 1);
    constexpr double kMinutes = 100; // s, from here on minutes are precise enough
    const QString time = left < kMinutes ? tr("about %1 s left").arg(std::ceil(left))
                                         : tr("about %1 min left").arg(std::ceil(left / 60));
    m_progress->setFormat(tr("%1 of %2, %3")
                              .arg(countText(static_cast<int64_t>(m_model.trained())),
                                   countText(static_cast<int64_t>(m_model.cells().size())), time));
}

void GridDialog::conclude(const QString& note, bool wrong) {
    m_job.release()->deleteLater(); // its own signal led here
    decideMeasure();
    m_progress->setRange(0, 1);
    m_progress->setValue(m_model.trained() == m_model.cells().size() ? 1 : 0);
    m_progress->setFormat(tr("%1 of %2")
                              .arg(countText(static_cast<int64_t>(m_model.trained())),
                                   countText(static_cast<int64_t>(m_model.cells().size()))));
    m_start->setText(tr("&Start"));
    m_start->setEnabled(true);
    m_start->setDefault(true);
    if (std::exchange(m_stopHadFocus, false)) m_start->setFocus(); // Qt moved it on meanwhile
    check();
    if (wrong || m_start->isEnabled()) tell(note, wrong); // else it says why nothing can be started
    updateButtons();
}

/// The list that was open has missed what came meanwhile. It catches up once the choice from it, if
/// there is one, is known.
bool GridDialog::eventFilter(QObject* object, QEvent* event) {
    const auto catchUp = [this] { m_undecided ? decideMeasure() : offerMeasures(); };
    if (event->type() == QEvent::Hide && object == m_measure->view())
        QMetaObject::invokeMethod(this, catchUp, Qt::QueuedConnection);
    if (event->type() == QEvent::FontChange && object == m_cell) keepRoomForCell();
    return QDialog::eventFilter(object, event);
}

void GridDialog::decideMeasure() {
    m_undecided = m_measure->view()->isVisible();
    if (m_undecided) return;
    // a map that has just begun has no cells, and so does not offer all that it will
    const GridModel::Measure wanted =
        m_chosen && m_model.measures().contains(*m_chosen) ? *m_chosen : m_model.deciding();
    if (m_model.shown() != wanted) m_model.show(wanted);
    m_legend->refresh();
    offerMeasures();
}

void GridDialog::offerMeasures() {
    if (m_measure->view()->isVisible()) return;
    const QList<GridModel::Measure> measures = m_model.measures();
    if (measures.size() != m_measure->count()) {
        m_measure->clear();
        for (const GridModel::Measure each : measures)
            m_measure->addItem(GridModel::nameOf(each), static_cast<int>(each));
    }
    choose(*m_measure, static_cast<int>(m_model.shown()));
}

void GridDialog::showCell() {
    const QModelIndex current = m_view->selectionModel()->currentIndex();
    QString text = tr("Point at a cell, or move to it with the arrow keys, to read all of its "
                      "figures. Ctrl and Shift select several.");
    if (current.isValid() && m_model.grid()) text = m_model.about(m_model.cellAt(current));
    m_cell->setText(text.replace(u'\n', QStringLiteral(" · ")));
    updateButtons();
}

void GridDialog::updateButtons() {
    const size_t selected = m_view->selected().size();
    m_copy->setEnabled(m_model.trained() > 0);
    m_save->setEnabled(m_model.trained() > 0);
    m_lanes->setEnabled(selected > 0 && selected <= kMaxLanes && !m_otherExperiment);
    m_lanes->setToolTip(
        m_otherExperiment ? tr("The window has opened another experiment since this map was begun")
        : selected > kMaxLanes
            ? tr("A run has at most %1 lanes: select fewer cells").arg(kMaxLanes)
            : tr("Lanes with the settings of these cells take the place of the lane of the map. "
                 "Ctrl+Z takes them back."));
}

void GridDialog::makeLanes() {
    try {
        emit lanesChosen(*m_model.grid(), m_view->selected());
        const QString all = m_model.sharedSettings(m_view->selected().front());
        const QString play = tr("Play trains them, and Ctrl+Z there takes them back.");
        tell(all.isEmpty() ? tr("The window has these lanes now. %1").arg(play)
                           : tr("The window has these lanes now, and all its lanes have %1. %2")
                                 .arg(all, play));
    } catch (const InputError& error) {
        tell(translated(error), true);
    }
}

void GridDialog::save() {
    try {
        emit saveAsked(gridCsv(*m_model.grid(), m_model.cells()));
    } catch (const RunError& error) {
        tell(translated(error), true);
    }
}

void GridDialog::copy() { QGuiApplication::clipboard()->setText(m_model.text()); }

} // namespace halfscope
