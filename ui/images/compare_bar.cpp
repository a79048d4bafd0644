// Boxes in a row. A content that there is not yet is remembered until it is there.
#include "ui/images/compare_bar.h"

#include "ui/images/picture_words.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>

#include <algorithm>

namespace halfscope {

namespace {
constexpr int kGains[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr int kDefaultGain = 8;
constexpr int kLaneRole = Qt::UserRole + 1; // of the items in the box of modes
} // namespace

CompareBar::CompareBar(QWidget* parent) : QWidget(parent), m_samplesName(tr("Samples")) {
    constexpr int kLeastLetters = 6; // in a narrow window a choice is cut rather than the window
    auto* bar = make<QHBoxLayout>(this);
    bar->setContentsMargins(0, 0, 0, 0);
    bar->setSpacing(6);
    m_step = make<QLabel>(this);
    bar->addWidget(m_step, 1);
    m_what = make<QComboBox>(this);
    m_what->setAccessibleName(tr("What the pictures show"));
    m_what->setToolTip(tr("Samples with their predicted classes, only those that are predicted "
                          "wrong, the text that each lane writes, or the table of true and "
                          "predicted classes (key 5)"));
    m_what->setSizeAdjustPolicy(QComboBox::AdjustToContents); // mistakes come and go
    m_what->setMinimumContentsLength(kLeastLetters);
    fillContents();
    m_what->hide();
    bar->addWidget(m_what);
    m_modeLabel = make<QLabel>(tr("Last picture:"), this);
    m_modeLabel->setMinimumWidth(1); // see fit()
    m_mode = make<QComboBox>(this);
    m_mode->setAccessibleName(tr("Last picture"));
    m_mode->setSizeAdjustPolicy(QComboBox::AdjustToContents); // lanes come and go
    m_mode->setMinimumContentsLength(kLeastLetters);
    m_mode->setToolTip(tr("What the last pane shows (keys 1, 2 and 3)"));
    m_modeLabel->setBuddy(m_mode);
    bar->addWidget(m_modeLabel);
    bar->addWidget(m_mode);
    m_gain = make<QComboBox>(this);
    m_gain->setAccessibleName(tr("Amplification of the difference"));
    for (const int gain : kGains)
        m_gain->addItem(tr("× %1").arg(gain), gain);
    m_gain->setCurrentIndex(m_gain->findData(kDefaultGain));
    bar->addWidget(m_gain);
    setLanes(0);
    const auto moved = [this] {
        showGain();
        emit lastChanged();
    };
    connect(m_mode, &QComboBox::currentIndexChanged, this, moved);
    connect(m_gain, &QComboBox::currentIndexChanged, this, moved);
    connect(m_what, &QComboBox::currentIndexChanged, this, [this] {
        m_wanted = static_cast<Content>(m_what->currentData().toInt());
        emit contentChanged();
    });
}

void CompareBar::fillContents() {
    const QSignalBlocker blocker(m_what);
    m_what->clear();
    const auto add = [this](const QString& text, Content content) {
        m_what->addItem(text, static_cast<int>(content));
    };
    add(m_samplesName, Content::Samples);
    if (m_hasMistakes) add(tr("Wrong only"), Content::Mistakes);
    add(tr("Table of classes"), Content::Table);
    m_what->setCurrentIndex(std::max(0, m_what->findData(static_cast<int>(m_wanted))));
}

void CompareBar::offer(bool samples, bool mistakes) {
    m_hasSamples = samples;
    if (mistakes != m_hasMistakes) {
        m_hasMistakes = mistakes;
        fillContents();
    }
    m_what->setVisible(samples);
}

void CompareBar::nameSamples(const QString& name) {
    if (name == m_samplesName) return;
    m_samplesName = name;
    m_what->setItemText(0, name);
}

CompareBar::Content CompareBar::content() const {
    if (!m_hasSamples) return Content::Table;
    return static_cast<Content>(m_what->currentData().toInt());
}

void CompareBar::chooseNext() {
    if (m_hasSamples) m_what->setCurrentIndex((m_what->currentIndex() + 1) % m_what->count());
}

void CompareBar::setLanes(int lanes) {
    const Mode chosen = mode();
    const QSignalBlocker blocker(m_mode);
    m_mode->clear();
    const auto add = [this](const QString& text, Shows shows, int lane) {
        m_mode->addItem(text, static_cast<int>(shows));
        m_mode->setItemData(m_mode->count() - 1, lane, kLaneRole);
    };
    add(tr("Target"), Shows::Target, 0);
    for (int i = 1; i < lanes; ++i)
        add(tr("Difference |A − %1|").arg(laneLetter(i)), Shows::Difference, i);
    for (int i = 1; i < lanes; ++i)
        add(tr("Swipe A to %1").arg(laneLetter(i)), Shows::Swipe, i);
    choose(chosen.shows, std::clamp(chosen.lane, 1, std::max(1, lanes - 1)));
    showGain();
}

CompareBar::Mode CompareBar::mode() const {
    return {static_cast<Shows>(m_mode->currentData().toInt()),
            m_mode->currentData(kLaneRole).toInt()};
}

void CompareBar::choose(Shows shows, int otherLane) {
    for (int i = 0; i < m_mode->count(); ++i) {
        const bool lane = shows == Shows::Target || m_mode->itemData(i, kLaneRole) == otherLane;
        if (lane && m_mode->itemData(i).toInt() == static_cast<int>(shows))
            return m_mode->setCurrentIndex(i);
    }
}

void CompareBar::setHasLast(bool has) {
    if (has == m_hasLast) return;
    m_hasLast = has;
    m_mode->setVisible(has);
    m_modeLabel->setVisible(has);
    showGain();
}

void CompareBar::showGain() {
    m_gain->setVisible(m_hasLast && mode().shows == Shows::Difference);
    m_gain->setToolTip(gainWords(gain()));
}

void CompareBar::setGain(double gain) {
    const int index = m_gain->findData(static_cast<int>(gain));
    if (index >= 0) m_gain->setCurrentIndex(index);
}

double CompareBar::gain() const { return m_gain->currentData().toDouble(); }

void CompareBar::setStep(const QString& words, const QString& explained) {
    m_step->setText(words);
    m_step->setToolTip(explained);
    m_step->setAccessibleDescription(explained);
}

QString CompareBar::step() const { return m_step->text(); }

void CompareBar::fit(int width) {
    if (!m_hasLast) return;
    const int label = m_modeLabel->sizeHint().width() + layout()->spacing();
    const int others = sizeHint().width() - (m_modeLabel->isHidden() ? 0 : label);
    m_modeLabel->setVisible(others + label <= width);
}

} // namespace halfscope
