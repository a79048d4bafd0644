// The box for the text of a network. A key types into the text that stands there; what is pasted
// before anything was typed replaces it, as people paste whole networks, and so does a file.
#pragma once

#include <QList>
#include <QPlainTextEdit>
#include <QUrl>

namespace halfscope {

class NetworkText : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit NetworkText(QWidget* parent = nullptr) : QPlainTextEdit(parent) {}

signals:
    /// Why a file was not taken, as a sentence without its full stop.
    void refused(const QString& reason);

protected:
    void insertFromMimeData(const QMimeData*) override;

private:
    /// Puts what a single file holds, such as a program with a class, in place of the text; its
    /// address would be no network.
    void replaceBy(const QList<QUrl>&);
};

} // namespace halfscope
