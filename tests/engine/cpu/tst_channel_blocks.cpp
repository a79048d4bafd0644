// Images by planes and by blocks of channels: each element is where it belongs, and comes back.
#include "engine/cpu/channel_blocks.h"

#include <QTest>

#include <numeric>
#include <vector>

namespace tst_channel_blocks {

using namespace halfscope;

class TestChannelBlocks : public QObject {
    Q_OBJECT

private slots:
    void moves_data() {
        QTest::addColumn<int>("channels");
        QTest::addColumn<int>("places");
        QTest::addColumn<int>("block");
        for (const int places : {1, 7, 16, 49, 196})
            for (const auto& [channels, block] :
                 {std::pair{32, 16}, std::pair{16, 8}, std::pair{24, 24}, std::pair{5, 5},
                  std::pair{1, 1}, std::pair{6, 2}})
                QTest::addRow("%d channels, %d places, blocks of %d", channels, places, block)
                    << channels << places << block;
    }
    void moves() {
        moveAll<uint16_t>();
        moveAll<uint32_t>();
    }

private:
    template <class Element>
    void moveAll() {
        QFETCH(int, channels);
        QFETCH(int, places);
        QFETCH(int, block);
        constexpr int kSamples = 3;
        const ChannelBlocks blocks{kSamples, channels, places, block, sizeof(Element)};
        std::vector<Element> planes(static_cast<size_t>(kSamples * channels * places));
        std::iota(planes.begin(), planes.end(), Element{1}); // fewer than 2^16
        std::vector<Element> moved(planes.size()), back(planes.size());
        planesToBlocks(blocks, planes.data(), moved.data());
        for (int sample = 0; sample < kSamples; ++sample)
            for (int channel = 0; channel < channels; ++channel)
                for (int place = 0; place < places; ++place) {
                    const int row = sample * channels + channel / block * block;
                    const auto at = static_cast<size_t>(row * places + place * block +
                                                        channel % block),
                               from = static_cast<size_t>((sample * channels + channel) * places +
                                                          place);
                    QCOMPARE(moved[at], planes[from]);
                }
        blocksToPlanes(blocks, moved.data(), back.data());
        QCOMPARE(back, planes);
    }
};

} // namespace tst_channel_blocks

QTEST_GUILESS_MAIN(tst_channel_blocks::TestChannelBlocks)
#include "tst_channel_blocks.moc"
