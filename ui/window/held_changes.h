// What was set for the lanes of a run since its end and no setting stands for, such as a loss
// scale. It waits until the run goes on.
#pragma once

#include "engine/settings/fields.h"
#include "ui/panels/lane_card.h"
#include "ui/window/run_models.h"

#include <QCoreApplication>
#include <QString>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace halfscope {

class HeldChanges {
    Q_DECLARE_TR_FUNCTIONS(HeldChanges)
public:
    /// The models must outlive it.
    explicit HeldChanges(const RunModels& models) : m_models(models) {}

    void set(int lane, const std::string& key, const FieldValue& value) {
        m_held.insert_or_assign({lane, key}, value);
    }
    void clear() { m_held.clear(); }
    /// The loss scale of a lane that waits; 0 when none does.
    double scale(int lane) const;
    /// Returns what waits, by lane of the run that is shown. Settings of the lanes count, too.
    std::vector<HeldEdits> byLane() const;
    /// Says which loss scales wait for Continue; empty when none does.
    QString words() const;
    using Edit = std::function<void(int lane, const std::string& key, const FieldValue&)>;
    /// Hands what waits to `edit`, apart from loss scales that the run which goes on has already,
    /// and forgets it.
    void release(const Run* goesOn, const Edit& edit);

private:
    /// Whether the run that is shown has another loss scale in this lane.
    bool changesScale(int lane, double next) const;

    const RunModels& m_models;
    std::map<std::pair<int, std::string>, FieldValue> m_held; ///< by lane and key
};

} // namespace halfscope
