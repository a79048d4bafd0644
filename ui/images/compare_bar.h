// The controls above the pictures of the lanes: what the pictures show, what the last one shows,
// and by how much a difference is amplified. Also tells the step that the pictures are of.
#pragma once

#include <QString>
#include <QWidget>

#include <cstdint>

class QComboBox;
class QLabel;

namespace halfscope {

class CompareBar : public QWidget {
    Q_OBJECT
public:
    /// What pictures of classes show.
    enum class Content : uint8_t {
        Samples,  ///< some samples, with those that are predicted wrong marked
        Mistakes, ///< samples that are predicted wrong, and no others
        Table,    ///< how often each class was taken for which
    };
    /// What the last picture shows, see CompareView.
    enum class Shows { Target, Difference, Swipe };
    struct Mode {
        Shows shows = Shows::Target;
        int lane = 0; ///< the other lane
    };

    explicit CompareBar(QWidget* parent);

    /// Offers a choice of contents where there are samples, and mistakes where there are any.
    void offer(bool samples, bool mistakes);
    /// Sets what the samples are called.
    void nameSamples(const QString&);
    /// Chooses the next content of those that there are. One that goes is shown again as soon as it
    /// is back, and samples until then.
    void chooseNext();
    Content content() const;

    /// Sets how many lanes there are to compare.
    void setLanes(int lanes);
    void choose(Shows, int otherLane);
    Mode mode() const;
    /// Hides the choice of the last picture while there is none.
    void setHasLast(bool);
    void setGain(double gain);
    double gain() const;

    void setStep(const QString& words, const QString& explained);
    QString step() const;
    /// Leaves the name of a choice out rather than showing a part of it.
    void fit(int width);

signals:
    void contentChanged();
    void lastChanged();

private:
    void fillContents();
    void showGain();

    QLabel* m_step = nullptr;    ///< child, as all below
    QComboBox* m_what = nullptr; ///< each item's data is a Content
    QLabel* m_modeLabel = nullptr;
    QComboBox* m_mode = nullptr; ///< each item's data is a Mode
    QComboBox* m_gain = nullptr;
    QString m_samplesName;
    Content m_wanted = Content::Samples;
    bool m_hasSamples = false, m_hasMistakes = false, m_hasLast = true;
};

} // namespace halfscope
