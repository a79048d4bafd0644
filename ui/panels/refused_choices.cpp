// Looks at each choice anew: another task allows other losses.
#include "ui/panels/refused_choices.h"

#include "ui/models/translated.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QStandardItemModel>

namespace halfscope {

void describeChoices(QComboBox& box, const Field& field, const RunConfig& config) {
    const QSignalBlocker quiet(&box); // a box calls its text changed when a tool tip is
    const auto* items = qobject_cast<const QStandardItemModel*>(box.model());
    for (size_t i = 0; i < field.choices.size(); ++i) {
        const Message refused =
            field.obstacle ? field.obstacle(config, field.choices[i]) : Message();
        const Message meaning = i < field.meanings.size() ? field.meanings[i] : Message();
        const int row = static_cast<int>(i);
        const QString tip = translated(refused.empty() ? meaning : refused);
        for (const int role : {Qt::ToolTipRole, Qt::AccessibleDescriptionRole})
            box.setItemData(row, tip, role);
        if (items) items->item(row)->setEnabled(refused.empty());
    }
}

} // namespace halfscope
