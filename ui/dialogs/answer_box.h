// Tells what lanes predict for one picture, and offers to save it as a table.
#pragma once

#include <QMessageBox>
#include <QString>

namespace halfscope {

class AnswerBox : public QMessageBox {
    Q_OBJECT
public:
    /// `table` is what predictedSamples() returns for one picture. `lane` is the name of the lane
    /// that predicted, where there is one; `note` are sentences to know.
    AnswerBox(const QByteArray& table, const QString& lane, const QString& note, QWidget* parent);

    /// Returns a line for each lane: "fp32: cat, 93.2 %".
    static QStringList answers(const QByteArray& table, const QString& lane);

signals:
    void saveAsked();
};

} // namespace halfscope
