// Widgets draw themselves into the picture, one below the other.
#include "ui/dialogs/figure_menu.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/atomic_file.h"
#include "engine/runs/run_tables.h"
#include "ui/dialogs/ask.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"

#include <qcustomplot.h>

#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QTableView>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <utility>

namespace halfscope {
namespace {

constexpr int kAround = 8; // pixels around each part
constexpr int kFrame = 1;  // pixels that are left out at the edges, where the focus is shown

/// Gives a widget the colours of paper as long as it lives.
class OnPaper {
public:
    explicit OnPaper(QWidget& widget)
        : m_widget(widget), m_own(widget.testAttribute(Qt::WA_SetPalette)),
          m_before(widget.palette()) {
        m_widget.setPalette(figurePalette(paperColors()));
    }
    ~OnPaper() { m_widget.setPalette(m_own ? m_before : QPalette()); }
    OnPaper(const OnPaper&) = delete;
    OnPaper& operator=(const OnPaper&) = delete;

private:
    QWidget& m_widget;
    bool m_own;
    QPalette m_before;
};

/// Makes a table as large as all of its cells, with none selected, as long as it lives. Nobody is
/// told: the window comes back before it is drawn again.
class Unrolled {
public:
    explicit Unrolled(QTableView* table) : m_table(table) {
        if (!m_table) return;
        QItemSelectionModel& chosen = *m_table->selectionModel();
        m_size = m_table->size();
        m_scrolled = {m_table->horizontalScrollBar()->value(),
                      m_table->verticalScrollBar()->value()};
        m_current = chosen.currentIndex();
        m_selected = chosen.selection();
        const QSignalBlocker quiet(chosen);
        chosen.clear();
        const QHeaderView &across = *m_table->horizontalHeader(),
                          &down = *m_table->verticalHeader();
        const int frame = 2 * m_table->frameWidth();
        const int wide = across.length() + (down.isHidden() ? 0 : down.width()) + frame;
        const int high = down.length() + (across.isHidden() ? 0 : across.height()) + frame;
        m_table->resize(std::max(wide, m_size.width()), high);
    }
    ~Unrolled() {
        if (!m_table) return;
        QItemSelectionModel& chosen = *m_table->selectionModel();
        const QSignalBlocker quiet(chosen);
        chosen.setCurrentIndex(m_current, QItemSelectionModel::NoUpdate);
        chosen.select(m_selected, QItemSelectionModel::ClearAndSelect);
        m_table->resize(m_size);
        m_table->horizontalScrollBar()->setValue(m_scrolled.x());
        m_table->verticalScrollBar()->setValue(m_scrolled.y());
    }
    Unrolled(const Unrolled&) = delete;
    Unrolled& operator=(const Unrolled&) = delete;

private:
    QTableView* m_table;
    QSize m_size;
    QPoint m_scrolled;
    QModelIndex m_current;
    QItemSelection m_selected;
};

/// Hands `take` the size of caption and parts, one below the other, and what draws them.
template <class Take>
auto stacked(const QString& caption, const std::vector<QWidget*>& parts, Take take) {
    const QWidget& first = *parts.front();
    int width = 0, height = kAround;
    for (const QWidget* part : parts)
        width = std::max(width, part->width() + 2 * kAround);
    QRect heading(kAround, kAround, width - 2 * kAround, 0);
    constexpr int kHow = Qt::AlignLeft | Qt::TextWordWrap;
    if (!caption.isEmpty()) {
        heading.setHeight(first.fontMetrics().boundingRect(heading, kHow, caption).height());
        height += heading.height() + kAround;
    }
    const int top = height;
    for (const QWidget* part : parts)
        height += part->height() + kAround;
    return take(QSize(width, height), [&, top, heading](QCPPainter& painter) {
        painter.fillRect(QRect(0, 0, width, height), first.palette().color(QPalette::Window));
        painter.setFont(first.font());
        painter.setPen(QPen(first.palette().color(QPalette::WindowText)));
        painter.drawText(heading, kHow, caption);
        int at = top;
        for (QWidget* part : parts) {
            const QRect inner = part->rect().adjusted(kFrame, kFrame, -kFrame, -kFrame);
            part->render(&painter, QPoint(kAround, at), inner);
            at += part->height() + kAround;
        }
    });
}

std::vector<QWidget*> partsOf(QWidget& owner, const std::vector<QWidget*>& below) {
    std::vector<QWidget*> parts{&owner};
    std::copy_if(below.begin(), below.end(), std::back_inserter(parts),
                 [](const QWidget* each) { return !each->isHidden(); });
    return parts;
}

/// Returns what a cell has without marks, which would make text of a number.
QString textWithoutMarks(const QModelIndex& cell) {
    const QVariant bare = cell.data(Qt::EditRole);
    return (bare.isValid() ? bare : cell.data()).toString();
}

} // namespace

FigureMenu::FigureMenu(QWidget& owner, Figure figure)
    : QObject(&owner), m_owner(owner), m_figure(std::move(figure)),
      m_table(qobject_cast<QTableView*>(&owner)) {
    owner.setContextMenuPolicy(Qt::CustomContextMenu);
    connect(&owner, &QWidget::customContextMenuRequested, this, &FigureMenu::open);
}

void FigureMenu::open(const QPoint& at) {
    auto* menu = make<QMenu>(&m_owner);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    // through the queue: while a dialog is open, this menu is deleted
    menu->addAction(tr("&Copy picture"), this, &FigureMenu::copy, Qt::QueuedConnection);
    if (m_table)
        menu->addAction(tr("Copy &table"), this, &FigureMenu::copyTable, Qt::QueuedConnection);
    menu->addAction(tr("&Save…"), this, &FigureMenu::choose, Qt::QueuedConnection);
    menu->popup((m_table ? m_table->viewport() : &m_owner)->mapToGlobal(at));
}

QImage FigureMenu::picture() {
    const Unrolled whole(m_table);
    return stacked(m_figure.caption ? m_figure.caption() : QString(),
                   partsOf(m_owner, m_figure.below), figureImage);
}

QByteArray FigureMenu::file(PlotForm form) {
    const std::vector<QWidget*> parts = partsOf(m_owner, m_figure.below);
    std::vector<std::unique_ptr<OnPaper>> paper;
    for (QWidget* part : parts)
        paper.push_back(std::make_unique<OnPaper>(*part));
    const Unrolled whole(m_table);
    return stacked(m_figure.caption ? m_figure.caption() : QString(), parts,
                   [&](const QSize& size, const DrawFigure& draw) {
                       return figureFile(size, tr("Halfscope"), draw, form);
                   });
}

QString FigureMenu::table(bool csv) const {
    if (!m_table) return {};
    const QAbstractItemModel& model = *m_table->model();
    QStringList lines;
    const auto add = [&lines, csv](const QStringList& cells) {
        QStringList line;
        for (const QString& cell : cells)
            line << (csv ? QString::fromStdString(csvField(cell.toStdString()))
                         : QString(cell).replace(u'\n', u' '));
        lines << line.join(csv ? u',' : u'\t');
    };
    const bool named = !m_table->verticalHeader()->isHidden();
    QStringList cells = named ? QStringList(QString()) : QStringList();
    for (int column = 0; column < model.columnCount(); ++column)
        cells << model.headerData(column, Qt::Horizontal).toString().replace(u'\n', u' ');
    add(cells);
    for (int row = 0; row < model.rowCount(); ++row) {
        cells = named ? QStringList(model.headerData(row, Qt::Vertical).toString()) : QStringList();
        for (int column = 0; column < model.columnCount(); ++column)
            cells << textWithoutMarks(model.index(row, column));
        add(cells);
    }
    return lines.join(u'\n') + u'\n';
}

void FigureMenu::copy() { QGuiApplication::clipboard()->setImage(picture()); }

void FigureMenu::copyTable() { QGuiApplication::clipboard()->setText(table(false)); }

void FigureMenu::choose() {
    QString kinds = tr("PNG (*.png);;SVG (*.svg);;PDF (*.pdf)");
    if (m_table) kinds += tr(";;Tables (*.csv)");
    const QString path = chooseTarget(m_owner.window(), tr("Save the figure"),
                                      m_figure.name + QStringLiteral(".png"), kinds);
    if (path.isEmpty()) return;
    try {
        save(path);
    } catch (const std::exception& error) {
        warn(m_owner.window(), tr("Save the figure"), translated(error));
    }
}

void FigureMenu::save(const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    const std::map<QString, PlotForm> forms{{QStringLiteral("svg"), PlotForm::Svg},
                                            {QStringLiteral("pdf"), PlotForm::Pdf},
                                            {QStringLiteral("png"), PlotForm::Png}};
    const auto form = forms.find(ending);
    const bool csv = m_table && ending == QLatin1String("csv");
    if (form == forms.end() && !csv)
        throw RunError(phrase("Files",
                              "%1: figures are saved as .svg, .png or .pdf, tables as .csv, "
                              "too"),
                       pathText(path.toStdString()));
    m_path = path;
    const QByteArray bytes = csv ? table(true).toUtf8() : file(form->second);
    m_job = std::make_unique<FileJob>(
        [to = path.toStdString(), content = bytes.toStdString()] {
            writeFileAtomically(to, content);
        },
        FileJob::Leaving::Abandons);
    connect(m_job.get(), &FileJob::done, this, &FigureMenu::conclude);
}

void FigureMenu::conclude() {
    const std::unique_ptr<FileJob> job = std::exchange(m_job, nullptr);
    try {
        job->result();
        tellBelow(m_owner, tr("Saved as %1").arg(safeText(m_path.toStdString())));
    } catch (const std::exception& error) {
        warn(m_owner.window(), tr("Save the figure"), translated(error));
    }
}

} // namespace halfscope
