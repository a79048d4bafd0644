// The context menu of a figure: copies or saves it as a picture, and a table as text, too. A table
// is drawn with all of its rows, whatever is scrolled away.
#pragma once

#include "ui/plots/plot_picture.h"
#include "ui/session/file_job.h"

#include <QObject>
#include <QPoint>

#include <functional>
#include <memory>
#include <string>
#include <vector>

class QTableView;
class QWidget;

namespace halfscope {

class FigureMenu : public QObject {
    Q_OBJECT
public:
    struct Figure {
        QString name; ///< of the file that is proposed, without an ending
        /// A text above the picture; may be missing.
        std::function<QString()> caption{};
        /// Widgets that explain the figure, which are drawn below it.
        std::vector<QWidget*> below{};
    };
    /// `owner` is what is drawn. It owns the menu, and shows it for a click and for the menu key.
    FigureMenu(QWidget& owner, Figure);

    QImage picture();
    /// Saves as SVG, PNG or PDF, and a table as csv, too, as the ending of the name says. Throws
    /// RunError for another ending; the lower edge of the main window tells later that the file
    /// is saved, or a message box why it could not be written.
    void save(const QString& path);
    /// Returns the cells as they are shown, or what they have for editing, with their headings.
    QString table(bool csv) const;

private:
    void open(const QPoint&);
    void copy();
    void copyTable();
    void choose();
    void conclude();
    QByteArray file(PlotForm);

    QWidget& m_owner;
    const Figure m_figure;
    QTableView* m_table; ///< the owner; null when it is no table
    std::unique_ptr<FileJob> m_job;
    QString m_path; ///< of the file that the job writes
};

} // namespace halfscope
