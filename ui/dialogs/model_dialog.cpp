// The text is at the left, the layers with their shapes are at the right, and below is what is
// wrong, with its line marked.
#include "ui/dialogs/model_dialog.h"

#include "engine/data/known_facts.h"
#include "engine/settings/run_task.h"
#include "engine/step/model_shapes.h"
#include "ui/dialogs/ask.h"
#include "ui/dialogs/network_text.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/models/translated.h"

#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QShortcut>
#include <QSplitter>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextOption>
#include <QTimer>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {
namespace {

constexpr int kPauseMs = 150; // the pause between two letters of a fast typist
/// Shows a convolution as PyTorch prints it beside its shape.
constexpr QSize kRoomForLayers(1100, 560);

/// Returns the text of a network in the settings.
std::string& textIn(ModelConfig& model, ModelDialog::Network network) {
    return network == ModelDialog::Network::Critic ? model.critic : model.layers;
}

/// Shows a sentence on what is wrong; hides it where there is none.
void showWrong(QLabel& label, const QString& text) {
    label.setText(text);
    label.setVisible(!text.isEmpty());
    label.setStyleSheet(
        QStringLiteral("color: %1").arg(colorsFor(QGuiApplication::palette()).error.name()));
}

} // namespace

ModelDialog::ModelDialog(const RunConfig& config, Network network, QWidget* parent)
    : QDialog(parent), m_config(config), m_network(network) {
    const bool critic = network == Network::Critic;
    const bool slopes = critic && config.model.adversary == Adversary::WganGp;
    setWindowTitle(critic ? tr("Layers of the critic") : tr("Layers of the network"));
    resize(kRoomForLayers.boundedTo(9 * screen()->availableSize() / 10));
    auto* about = make<QLabel>(
        critic
            ? tr("Paste a PyTorch class or nn.Sequential, or what print(model) shows. The critic "
                 "gives a score to each target and each prediction, which it sees as one batch. "
                 "The shape after each layer is shown on the right.")
            : tr("Paste a PyTorch class or nn.Sequential, or what print(model) shows. The shape "
                 "after each layer is shown on the right."),
        this);
    if (slopes) // else its rows look too many
        about->setText(tr("%1 A third of the rows are points between a target and its prediction, "
                          "for the gradient penalty.")
                           .arg(about->text()));
    about->setObjectName(QStringLiteral("about"));
    about->setWordWrap(true);
    auto* column = make<QVBoxLayout>(this);
    column->addWidget(about);
    buildRow();
    for (QLabel** label : {&m_refusal, &m_sum, &m_error}) {
        *label = make<QLabel>(this);
        (*label)->setWordWrap(true);
        // a very long word must not make the window wider
        (*label)->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        column->addWidget(*label);
    }
    for (QLabel* wrong : {m_refusal, m_error})
        wrong->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_refusal->hide();
    buildButtons();
    m_waits = factsPending(taskOf(config));
    m_template = templateText();
    const QString own = QString::fromStdString(textIn(m_config.model, network));
    m_text->setPlainText(own.isEmpty() ? m_template : own);
    m_begun = text();
    auto* pause = make<QTimer>(this);
    pause->setSingleShot(true);
    pause->setInterval(kPauseMs);
    connect(m_text, &QPlainTextEdit::textChanged, pause, qOverload<>(&QTimer::start));
    connect(m_text, &QPlainTextEdit::textChanged, this, [this] {
        m_use->setEnabled(false);
        showRefusal({});
    });
    connect(pause, &QTimer::timeout, this, &ModelDialog::refresh);
    refresh();
}

RunConfig ModelDialog::with(const QString& text) const {
    RunConfig config = m_config;
    textIn(config.model, m_network) = text.toStdString();
    return config;
}

ModelShapes ModelDialog::shapesOf(const QString& text) const {
    const RunConfig config = with(text);
    return m_network == Network::Critic ? criticShapes(config) : modelShapes(config);
}

QString ModelDialog::templateText() const { return QString::fromStdString(shapesOf({}).text); }

void ModelDialog::buildRow() {
    auto* row = make<QSplitter>(Qt::Horizontal, this);
    auto* text = make<NetworkText>(row);
    connect(text, &NetworkText::refused, this, &ModelDialog::showRefusal);
    m_text = text;
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setLineWrapMode(QPlainTextEdit::WidgetWidth); // a whole network may be one line
    m_text->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    m_text->setTabChangesFocus(true);
    m_text->setAccessibleName(tr("Text of the network"));
    m_layers = make<QTreeWidget>(row);
    m_layers->setAccessibleName(tr("Layers and the shapes after them"));
    m_layers->setHeaderLabels({tr("Layer"), tr("Shape after it"), tr("Parameters")});
    m_layers->setRootIsDecorated(false);
    m_layers->setUniformRowHeights(true);
    m_layers->header()->setStretchLastSection(false);
    m_layers->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    for (const int narrow : {1, 2})
        m_layers->header()->setSectionResizeMode(narrow, QHeaderView::ResizeToContents);
    row->setChildrenCollapsible(false);
    row->setSizes({2000, 3000}); // the ratio counts: rows are longer than the lines of a text
    layout()->addWidget(row);
    static_cast<QVBoxLayout*>(layout())->setStretchFactor(row, 1);
}

void ModelDialog::buildButtons() {
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_use = buttons->button(QDialogButtonBox::Ok);
    m_use->setText(tr("&Use this network"));
    m_use->setToolTip(tr("Ctrl+Enter does the same."));
    for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) // Enter alone begins a new line
        connect(make<QShortcut>(QKeySequence(Qt::CTRL | key), this), &QShortcut::activated, this,
                &ModelDialog::useText);
    const bool critic = m_network == Network::Critic;
    auto* reset = buttons->addButton(critic ? tr("&From width") : tr("&From width and depth"),
                                     QDialogButtonBox::ResetRole);
    reset->setToolTip(critic ? tr("A critic with one hidden layer of the network's width. Ctrl+Z "
                                  "brings the text back.")
                             : tr("The network that width, hidden layers, normalisation and "
                                  "activation describe. Ctrl+Z brings the text back."));
    connect(reset, &QPushButton::clicked, this, [this] { write(m_template); });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout()->addWidget(buttons);
}

/// Reads the text first: it may have been typed a moment ago.
void ModelDialog::useText() {
    refresh();
    if (m_use->isEnabled()) accept();
}

void ModelDialog::write(const QString& text) {
    QTextCursor all(m_text->document());
    all.select(QTextCursor::Document);
    all.insertText(text);
    m_text->setFocus(); // which Ctrl+Z needs
    refresh();
}

QString ModelDialog::text() const {
    const QString text = m_text->toPlainText().trimmed();
    return text == m_template.trimmed() ? QString() : text;
}

void ModelDialog::reject() {
    if (text() == m_begun ||
        askDiscard(this, windowTitle(), tr("This network is not in use yet. Discard it?")))
        QDialog::reject();
}

QString ModelDialog::errorText() const { return m_error->text(); }

QString ModelDialog::refusalText() const { return m_refusal->text(); }

void ModelDialog::lookForData() {
    if (m_waits && !factsPending(taskOf(m_config))) {
        m_waits = false;
        const bool untouched = text().isEmpty();
        m_template = templateText();
        if (untouched) m_text->setPlainText(m_template);
        m_textWaits = true; // read it again with the new template
    }
    if (m_textWaits && !factsPending(taskOf(with(text())))) refresh();
}

void ModelDialog::refresh() {
    // a text that begins with an Embedding asks for facts of its own: tokens in place of numbers
    m_textWaits = factsPending(taskOf(with(text())));
    showLayers();
    markError();
    m_use->setEnabled(errorText().isEmpty());
}

void ModelDialog::showLayers() {
    const ModelShapes shapes = shapesOf(text());
    const QLocale locale;
    m_layers->clear();
    const auto add = [this](const QString& name, const Shape& shape, const QString& parameters) {
        auto* item = make<QTreeWidgetItem>(
            m_layers, QStringList{name, QString::fromStdString(shapeText(shape)), parameters});
        item->setTextAlignment(2, Qt::AlignRight);
        item->setToolTip(0, name);
    };
    add(tr("input"), shapes.input, {});
    int64_t sum = 0;
    for (const LayerShape& layer : shapes.layers) {
        const QString path = QString::fromStdString(layer.path);
        const QString written = QString::fromStdString(layer.written);
        if (layer.depth == 0 && shapes.layers.size() > 1) continue; // contains the others
        sum += layer.parameters;
        const QString indent(2 * std::max(0, layer.depth - 1), u' ');
        add(indent + (path.isEmpty() ? written : tr("%1  %2").arg(path, written)), layer.shape,
            layer.parameters > 0 ? locale.toString(static_cast<qlonglong>(layer.parameters))
                                 : QString());
    }
    // the outermost layer, which comes last, is only there where all are
    m_sum->setVisible(!shapes.layers.empty() && shapes.layers.back().depth == 0);
    QString about = tr("%1 parameters").arg(locale.toString(static_cast<qlonglong>(sum)));
    if (!shapes.warning.empty())
        about = tr("%1. Warning: %2").arg(about, translated(shapes.warning));
    m_sum->setText(about);
    m_reason = QString::fromStdString(shapes.error.english());
    showWrong(*m_error, translated(shapes.error));
}

void ModelDialog::showRefusal(const QString& reason) { showWrong(*m_refusal, reason); }

/// Marks the line that the error names, which is one that is shown.
void ModelDialog::markError() {
    static const QRegularExpression line(QStringLiteral("line (\\d+), column (\\d+)"));
    const QRegularExpressionMatch found = line.match(m_reason);
    QList<QTextEdit::ExtraSelection> marks;
    if (found.hasMatch()) {
        QTextEdit::ExtraSelection mark;
        const QTextBlock block =
            m_text->document()->findBlockByNumber(found.captured(1).toInt() - 1);
        mark.cursor = QTextCursor(block);
        // of a line that is wrapped, the part with this column is marked
        mark.cursor.setPosition(block.position() +
                                std::clamp(found.captured(2).toInt() - 1, 0, block.length() - 1));
        QColor fill = colorsFor(QGuiApplication::palette()).error;
        fill.setAlpha(50);
        mark.format.setBackground(fill);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        marks << mark;
    }
    m_text->setExtraSelections(marks);
}

} // namespace halfscope
