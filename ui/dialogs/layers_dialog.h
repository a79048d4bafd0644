// Chooses for each layer of the network the dtype that it computes in, whatever its lane's
// precision does elsewhere. Reads and returns the text of the setting precision.layers; the engine
// decides what a layer may be called and what a dtype does.
#pragma once

#include <QDialog>
#include <QString>
#include <QStringList>
#include <vector>

class QComboBox;
class QGridLayout;

namespace halfscope {

class LayersDialog : public QDialog {
    Q_OBJECT
public:
    /// `layers` are the network's layers in order; `text` is the setting's. Layers that only the
    /// text names get a row, too, so that nothing is lost silently.
    LayersDialog(const QString& lane, const QStringList& layers, const QString& text,
                 QWidget* parent = nullptr);

    /// Returns "layer 1=float32, output layer=bfloat16"; empty when every layer follows the
    /// precision.
    QString text() const;

private:
    void addRow(QGridLayout&, const QString& layer, const QString& note, const QString& dtype);
    void clear();

    struct Row {
        QString layer;
        QComboBox* dtype = nullptr; ///< child
    };
    std::vector<Row> m_rows;
};

} // namespace halfscope
