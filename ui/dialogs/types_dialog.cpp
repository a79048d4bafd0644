// The table above; what the current cell says, and the choice for its layer, below.
#include "ui/dialogs/types_dialog.h"

#include "engine/core/error.h"
#include "ui/dialogs/figure_menu.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/look/wheel.h"
#include "ui/models/lane_titles.h"
#include "ui/models/translated.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {
namespace {

constexpr std::string_view kSetting = "precision.layers";
// The choices after the first, which stands for no entry in the setting.
constexpr DType kForced[] = {DType::F32, DType::F16, DType::BF16};

/// Draws before a cell's text how many of four bytes a number takes there.
class BytesDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const QVariant bytes = index.data(TypesModel::BytesRole);
        if (!bytes.isValid()) return;
        option->features |= QStyleOptionViewItem::HasDecoration;
        option->icon = iconOf(bytes.toInt(), *option);
        option->decorationSize = sizeIn(*option);
    }

private:
    static constexpr int kBytes = 4;
    static QSize sizeIn(const QStyleOptionViewItem& option) {
        const int box = option.fontMetrics.ascent() / 2;
        return {kBytes * (box + 1), box + 2};
    }
    static QIcon iconOf(int bytes, const QStyleOptionViewItem& option) {
        const Colors colors = colorsFor(option.palette);
        QIcon icon;
        icon.addPixmap(draw(bytes, option, colors.accent, colors.grid));
        const QColor chosen = option.palette.color(QPalette::HighlightedText);
        QColor empty = chosen;
        constexpr int kFaint = 80; // of 255
        empty.setAlpha(kFaint);
        icon.addPixmap(draw(bytes, option, chosen, empty), QIcon::Selected);
        return icon;
    }
    static QPixmap draw(int bytes, const QStyleOptionViewItem& option, const QColor& filled,
                        const QColor& empty) {
        const qreal ratio = option.widget ? option.widget->devicePixelRatioF() : 1;
        const QSize size = sizeIn(option);
        QPixmap picture(size * ratio);
        picture.setDevicePixelRatio(ratio);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        const int box = size.width() / kBytes - 1;
        for (int i = 0; i < kBytes; ++i)
            painter.fillRect(QRect(i * (box + 1), 1, box, box), i < bytes ? filled : empty);
        return picture;
    }
};

} // namespace

TypesDialog::TypesDialog(ConfigModel& config, int lane, QWidget* parent)
    : FigureDialog(parent), m_config(config), m_lane(lane) {
    setWindowTitle(tr("Number types by layer"));
    auto* column = make<QVBoxLayout>(this);
    m_heading = make<QLabel>(tr("The functions of the network and its loss in the forward pass, "
                                "with the type of what they output in each lane. A filled box is "
                                "a byte of each number; in FP8, of each input of the product."),
                             this);
    m_heading->setWordWrap(true);
    column->addWidget(m_heading);
    column->addWidget(makeTable(), 2);
    m_totals = make<QLabel>(this);
    m_totals->setWordWrap(true);
    column->addWidget(m_totals);
    make<FigureMenu>(
        *m_table,
        FigureMenu::Figure{QStringLiteral("types"), [this] { return windowTitle(); }, {m_totals}});
    addControls(*column);
    connect(&m_config, &ConfigModel::edited, this, &TypesDialog::read);
    fit();
    showCell(); // there is nothing to show yet
    read();
    m_table->setFocus();
}

TypesDialog::~TypesDialog() = default;

TypesDialog& TypesDialog::open(ConfigModel& config, int lane, QWidget& window) {
    auto* dialog = window.findChild<TypesDialog*>();
    if (dialog) {
        dialog->choose(dialog->m_row, lane);
    } else {
        dialog = make<TypesDialog>(config, lane, &window);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
    }
    dialog->show(); // training goes on
    dialog->raise();
    dialog->activateWindow();
    return *dialog;
}

TypesDialog& TypesDialog::open(ConfigModel& config, QWidget& window) {
    const std::vector<LaneConfig>& lanes = config.config().lanes;
    const auto low = std::find_if(lanes.begin(), lanes.end(), [](const LaneConfig& lane) {
        return lane.precision != Precision::Fp32;
    });
    return open(config, low == lanes.end() ? 0 : static_cast<int>(low - lanes.begin()), window);
}

QList<QWidget*> TypesDialog::figure() const { return {m_heading, m_table, m_totals, m_about}; }

void TypesDialog::fitFigure() {
    fitRows();
    m_table->resizeColumnsToContents();
}

void TypesDialog::fitRows() {
    const int line = m_table->fontMetrics().lineSpacing();
    m_table->verticalHeader()->setDefaultSectionSize(line * 3 / 2);
}

/// Gives the dialog room for all columns, if the screen has it.
void TypesDialog::fit() {
    constexpr int kWidth = 110, kLines = 42; // characters
    const QSize room = 9 * screen()->availableSize() / 10;
    const int columns = m_table->horizontalHeader()->length() + 2 * m_table->frameWidth() +
                        m_table->verticalScrollBar()->sizeHint().width() +
                        layout()->contentsMargins().left() + layout()->contentsMargins().right();
    resize(std::min(room.width(),
                    std::max({width(), columns, kWidth * fontMetrics().averageCharWidth()})),
           std::min(room.height(), std::max(height(), kLines * fontMetrics().lineSpacing())));
}

QTableView* TypesDialog::makeTable() {
    m_table = make<QTableView>(this);
    m_table->setAccessibleName(tr("Layers and their types"));
    m_table->setModel(&m_model);
    m_table->setItemDelegate(make<BytesDelegate>(m_table));
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setTabKeyNavigation(false); // Tab leaves the table, arrows move in it
    m_table->setShowGrid(false);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->verticalHeader()->hide();
    fitRows();
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& now) {
                if (!now.isValid()) return;
                m_row = now.row();
                if (const auto lane = TypesModel::laneAt(now)) m_lane = *lane;
                showCell();
            });
    return m_table;
}

void TypesDialog::addControls(QVBoxLayout& column) {
    m_about = make<QLabel>(this);
    m_about->setWordWrap(true);
    m_about->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_about->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_about->setMargin(fontMetrics().lineSpacing() / 4);
    auto* area = make<QScrollArea>(this);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidget(m_about);
    area->setAccessibleName(tr("What is known of the current cell"));
    area->setMinimumHeight(5 * fontMetrics().lineSpacing());
    column.addWidget(area, 1);
    auto* line = make<QHBoxLayout>();
    m_label = make<QLabel>(this);
    m_type = make<QComboBox>(this);
    m_type->setObjectName(QStringLiteral("layerType"));
    leaveWheelAlone(*m_type);
    m_type->addItem(tr("the type that the precision gives"));
    for (const DType each : kForced)
        m_type->addItem(nameOfType(each));
    m_label->setBuddy(m_type);
    connect(m_type, &QComboBox::activated, this, &TypesDialog::force);
    line->addWidget(m_label);
    line->addWidget(m_type);
    line->addStretch(1);
    column.addLayout(line);
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Close, this);
    m_reset =
        buttons->addButton(tr("Reset all to the precision's types"), QDialogButtonBox::ResetRole);
    m_reset->setObjectName(QStringLiteral("allAsInThePrecision"));
    for (QAbstractButton* each : buttons->buttons())
        static_cast<QPushButton*>(each)->setAutoDefault(false);
    connect(m_reset, &QPushButton::clicked, this, &TypesDialog::reset);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column.addWidget(buttons);
}

void TypesDialog::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_table) m_table->viewport()->update();
    QDialog::changeEvent(event);
}

QString TypesDialog::told() const { return m_about->text(); }

void TypesDialog::choose(int row, int lane) {
    m_row = row;
    m_lane = lane;
    const int rows = m_model.rowCount(), columns = m_model.columnCount();
    if (rows == 0) return; // as soon as there is something to choose
    m_table->setCurrentIndex(
        m_model.index(std::clamp(m_row, 0, rows - 1),
                      std::clamp<int>(m_lane + TypesModel::FirstLane, 0, columns - 1)));
    showCell();
}

/// What is shown is out of date until the job is done, and takes no choice meanwhile.
void TypesDialog::read() {
    m_type->setEnabled(false);
    m_reset->setEnabled(false);
    m_again = m_job != nullptr;
    if (m_again) return;
    m_found = std::make_shared<Found>();
    try {
        m_job = std::make_unique<FileJob>(
            [found = m_found, config = m_config.config()] {
                found->layers = layersOf(config);
                found->lanes = laneTypes(config);
            },
            FileJob::Leaving::Abandons);
    } catch (const RunError& error) { // the system has no thread to give
        m_problem = translated(error);
        return take();
    }
    connect(m_job.get(), &FileJob::done, this, &TypesDialog::take);
}

void TypesDialog::take() {
    const std::unique_ptr<FileJob> job = std::move(m_job);
    const std::shared_ptr<Found> found = std::move(m_found);
    if (m_again) return read();
    try {
        if (job) job->result();
        if (job) m_problem.clear();
    } catch (const std::exception& error) { // these settings make no network
        *found = {};
        m_problem = translated(error);
    }
    m_layers = found->layers;
    const int row = m_row, lane = m_lane; // the model moves the cursor
    m_model.show(std::move(found->lanes), laneLabels(laneTitles(m_config.config())));
    span();
    m_table->resizeColumnsToContents();
    if (!m_fitted && m_model.rowCount() > 0) {
        m_fitted = true; // later it is as large as the user wants
        fit();
    }
    m_totals->setText(m_problem.isEmpty() ? m_model.totals() : QString());
    choose(row, lane);
    showCell();
}

/// A layer's name stands once beside all of its functions.
void TypesDialog::span() {
    m_table->clearSpans();
    for (int row = 0; row < m_model.rowCount();) {
        const int rows = m_model.rowsOfLayer(row);
        if (rows > 1) m_table->setSpan(row, TypesModel::LayerColumn, rows, 1);
        row += rows;
    }
}

QModelIndex TypesDialog::setting() const {
    const int lanes = static_cast<int>(m_config.config().lanes.size());
    if (m_lane < 0 || m_lane >= lanes) return {};
    return m_config.index(m_config.rowOf(kSetting, m_lane));
}

void TypesDialog::showCell() {
    const bool known = m_row < m_model.rowCount();
    const QModelIndex cell =
        known ? m_model.index(m_row, m_lane + TypesModel::FirstLane) : QModelIndex();
    m_about->setText(known ? m_model.about(cell) : m_problem);
    const QModelIndex field = setting();
    const LayerTypes forced =
        forcedLayers(field.data(Qt::EditRole).toString().toStdString()).value_or(LayerTypes());
    const std::string layer = known ? m_model.layerAt(m_row).toStdString() : std::string();
    const bool free = std::find(m_layers.begin(), m_layers.end(), layer) != m_layers.end();
    m_label->setText(
        known ? tr("&Compute %1 of lane %2 in:").arg(m_model.layerAt(m_row), laneLetter(m_lane))
              : tr("&Compute in:"));
    m_type->setAccessibleName(m_label->text().remove(u'&'));
    m_type->setEnabled(free && field.isValid());
    const auto entry = forced.find(layer);
    m_type->setCurrentIndex(
        entry == forced.end() ? 0 : std::max(0, m_type->findText(nameOfType(entry->second))));
    m_reset->setEnabled(!forced.empty());
}

void TypesDialog::force(int choice) {
    LayerTypes forced =
        forcedLayers(setting().data(Qt::EditRole).toString().toStdString()).value_or(LayerTypes());
    const std::string layer = m_model.layerAt(m_row).toStdString();
    if (choice == 0)
        forced.erase(layer);
    else
        forced[layer] = kForced[choice - 1];
    put(forced);
}

void TypesDialog::reset() { put({}); }

void TypesDialog::put(const LayerTypes& forced) {
    QStringList pairs;
    for (const auto& [layer, dtype] : forced)
        pairs << QString::fromStdString(layer) + u'=' + nameOfType(dtype);
    m_config.setData(setting(), pairs.join(QStringLiteral(", ")));
}

} // namespace halfscope
