// A row for each layer: its name and a box with the dtypes. Tab moves from box to box; letters and
// arrows choose.
#include "ui/dialogs/layers_dialog.h"

#include "engine/settings/layers.h"
#include "ui/look/owned.h"
#include "ui/look/wheel.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {
namespace {
// The choices after the first, which stands for no entry in the text.
constexpr DType kForced[] = {DType::F32, DType::F16, DType::BF16};

QString nameOfType(DType dtype) {
    const std::string_view name = nameOf(dtype);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}
} // namespace

LayersDialog::LayersDialog(const QString& lane, const QStringList& layers, const QString& text,
                           QWidget* parent)
    : QDialog(parent) {
    setWindowTitle(tr("Layers of lane %1").arg(lane));
    auto* about = make<QLabel>(tr("A layer that you set here computes in that type, regardless of "
                                  "the precision of the lane."),
                               this);
    about->setWordWrap(true);
    auto* content = make<QWidget>();
    auto* grid = make<QGridLayout>(content);
    grid->setColumnStretch(0, 1);
    auto* area = make<QScrollArea>(this);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus); // the boxes scroll into view as Tab reaches them
    area->setAccessibleName(tr("Layers and their types"));

    const LayerTypes forced = forcedLayers(text.toStdString()).value_or(LayerTypes());
    for (const QString& layer : layers) {
        const auto found = forced.find(layer.toStdString());
        addRow(*grid, layer, {}, found == forced.end() ? QString() : nameOfType(found->second));
    }
    for (const auto& [label, dtype] : forced) {
        const QString layer = QString::fromStdString(label);
        if (!layers.contains(layer))
            addRow(*grid, layer, tr("not in this network"), nameOfType(dtype));
    }
    grid->setRowStretch(grid->rowCount(), 1);
    area->setWidget(content);
    area->setMinimumWidth(content->sizeHint().width() +
                          area->verticalScrollBar()->sizeHint().width());

    auto* buttons = make<QDialogButtonBox>(
        QDialogButtonBox::Ok | QDialogButtonBox::Cancel | QDialogButtonBox::Reset, this);
    QPushButton* reset = buttons->button(QDialogButtonBox::Reset);
    reset->setText(tr("All as in the precision"));
    connect(reset, &QPushButton::clicked, this, &LayersDialog::clear);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = make<QVBoxLayout>(this);
    column->addWidget(about);
    column->addWidget(area, 1);
    column->addWidget(buttons);
    constexpr int kMostHeight = 560;
    resize(sizeHint().width(),
           std::min(kMostHeight, sizeHint().height() + content->sizeHint().height()));
    if (!m_rows.empty()) m_rows.front().dtype->setFocus();
}

void LayersDialog::addRow(QGridLayout& grid, const QString& layer, const QString& note,
                          const QString& dtype) {
    const int row = grid.rowCount();
    auto* label = make<QLabel>(note.isEmpty() ? layer : tr("%1 (%2)").arg(layer, note), this);
    auto* box = make<QComboBox>(this);
    box->setObjectName(QStringLiteral("layer:%1").arg(layer));
    box->setAccessibleName(tr("Type of %1").arg(label->text()));
    leaveWheelAlone(*box);
    box->addItem(tr("as in the precision"), QString());
    for (const DType each : kForced)
        box->addItem(nameOfType(each), nameOfType(each));
    box->setCurrentIndex(std::max(0, box->findData(dtype)));
    label->setBuddy(box);
    grid.addWidget(label, row, 0);
    grid.addWidget(box, row, 1);
    m_rows.push_back({layer, box});
}

void LayersDialog::clear() {
    for (const Row& row : m_rows)
        row.dtype->setCurrentIndex(0);
}

QString LayersDialog::text() const {
    QStringList pairs;
    for (const Row& row : m_rows)
        if (const QString dtype = row.dtype->currentData().toString(); !dtype.isEmpty())
            pairs << row.layer + u'=' + dtype;
    return pairs.join(QStringLiteral(", "));
}

} // namespace halfscope
