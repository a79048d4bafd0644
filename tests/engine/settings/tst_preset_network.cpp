// The networks of presets on other data than their own.
#include "engine/io/picture.h"
#include "engine/settings/fields.h"
#include "engine/settings/preset_network.h"
#include "engine/settings/run_task.h"
#include "engine/step/model_shapes.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

namespace tst_preset_network {

using namespace halfscope;

class TestPresetNetwork : public QObject {
    Q_OBJECT

private slots:
    void fits_data();
    void fits();
    void changesTheLastLayerAlone();
    void leaves_data();
    void leaves();

private:
    /// Returns the experiment of a preset after such settings, with the names of files made whole.
    RunConfig with(const QString& preset, const QStringList& settings) const {
        RunConfig config = presetNamed(preset.toStdString()).config;
        for (QString setting : settings)
            applySetting(config, setting.replace("@", m_folder.path() + "/").toStdString());
        return config;
    }
    void writeFiles() const {
        const auto path = [this](const char* name) {
            return m_folder.filePath(name).toStdString();
        };
        std::string text, table = "text,label\n";
        for (int i = 0; i < 400; ++i)
            text += static_cast<char>('!' + i % 90);
        for (int i = 0; i < 60; ++i)
            table += std::string("word") + static_cast<char>('a' + i % 20) + ",c" +
                     std::to_string(i % 3) + "\n";
        writeBytes(path("text.txt"), text);
        writeBytes(path("table.csv"), table);
        QDir(m_folder.path()).mkdir("digits");
        for (const char* start : {"train", "t10k"}) {
            const std::string file = path("digits") + "/" + start;
            writeBytes(file + "-images-idx3-ubyte", idxBytes({10, 2, 2}, std::string(40, '\1')));
            writeBytes(file + "-labels-idx1-ubyte", idxBytes({10}, std::string(10, '\1')));
        }
        writePng({4, 4, 1, std::vector<float>(16, 0.5f)}, path("grey.png"));
        writePng(test::plain(1, 0, 0.5f), path("red.png"));
    }
    const QTemporaryDir m_folder;
};

void TestPresetNetwork::fits_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QStringList>("layers"); // some of those after it
    const auto row = [](const char* preset, const QStringList& settings,
                        const QStringList& layers) {
        QTest::addRow("%s, %s", preset, qPrintable(settings.join(' ')))
            << preset << settings << layers;
    };
    row("siren", {"task.image=@grey.png"},
        {"SineLayer(128, 128)", "SineLayer(128, 1, is_last=True)"});
    row("fourier", {"task.image=@grey.png"}, {"nn.Linear(128, 128)", "nn.Linear(128, 1), nn.Sig"});
    row("transformer-tiny", {"data.path=@text.txt"},
        {"nn.Embedding(90, 64)", "nn.Linear(2048, 90)"});
    row("transformer-tiny", {"data.context=16"},
        {"PositionalEmbedding(16, 64)", "nn.Linear(1024, 76)"});
    row("transformer-lm", {"data.path=@text.txt", "data.context=16"},
        {"nn.Embedding(90, 64)", "PositionalEmbedding(16, 64)", "nn.Linear(64, 90)"});
    row("languages", {"data.path=@table.csv"}, {"nn.Linear(64, 3)"});
}

/// Such an experiment can be trained, which it could not without the change.
void TestPresetNetwork::fits() {
    QFETCH(const QString, preset);
    QFETCH(const QStringList, settings);
    QFETCH(const QStringList, layers);
    writeFiles();
    RunConfig config = with(preset, settings);
    const auto fitting = [&config] {
        const auto task = makeTask(config);
        return fittingModel(config, task->shape(), DType::F32);
    };
    QVERIFY_EXCEPTION_THROWN(fitting(), InputError);
    QVERIFY(fitNetworkToData(config, presetNamed(preset.toStdString()).config));
    fitting();
    for (const QString& layer : layers)
        QVERIFY2(QString::fromStdString(config.model.layers).contains(layer),
                 config.model.layers.c_str());
    QVERIFY(!fitNetworkToData(config, presetNamed(preset.toStdString()).config)); // it is another
}

/// The text of the last layer may also be that of a layer before it, or of a comment behind it.
void TestPresetNetwork::changesTheLastLayerAlone() {
    writeFiles();
    const RunConfig config = with("languages", {"data.path=@table.csv"}); // of three classes
    const auto changed = [&config](const std::string& layers) {
        const std::optional<ChangedEnd> end = withOutputsFor(config, layers);
        return end ? pythonOf(readModel(end->layers), "") : std::string();
    };
    const auto same = [](const std::string& layers) { return pythonOf(readModel(layers), ""); };
    QCOMPARE(changed("n = 10\nnn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(n, 10))"),
             same("nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 3))"));
    QCOMPARE(changed("nn.Sequential(nn.ReLU(), nn.Linear(64, 10))  # Linear(64, 10)"),
             same("nn.Sequential(nn.ReLU(), nn.Linear(64, 3))"));
    const std::string kept =
        withOutputsFor(config, "nn.Sequential(nn.Linear(9, 8))  # all")->layers;
    QVERIFY2(kept.ends_with(")  # all"), kept.c_str());
}

void TestPresetNetwork::leaves_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QStringList>("settings");
    const auto row = [](const char* preset, const QStringList& settings) {
        QTest::addRow("%s, %s", preset, qPrintable(settings.join(' '))) << preset << settings;
    };
    for (const Preset& each : presets())
        QTest::newRow(each.name.c_str()) << QString::fromStdString(each.name) << QStringList{};
    row("siren", {"task.image=@red.png"});
    row("siren", {"task.image=@grey.png", "model.layers=nn.Linear(2, 3)"});
    row("siren", {"task.image=@none.png"});
    row("transformer-tiny", {"data.path=@none.txt"});
    row("gan", {"data.kind=mnist", "data.path=@digits"}); // its last layer makes channels
}

/// A network of the user's own stays, and so does that of data that it fits or that cannot be read,
/// and one of which the last layer does not tell how many outputs it has.
void TestPresetNetwork::leaves() {
    QFETCH(const QString, preset);
    QFETCH(const QStringList, settings);
    writeFiles();
    RunConfig config = with(preset, settings);
    const std::string before = config.model.layers;
    QVERIFY(!fitNetworkToData(config, presetNamed(preset.toStdString()).config));
    QCOMPARE(config.model.layers, before);
}

} // namespace tst_preset_network

QTEST_GUILESS_MAIN(tst_preset_network::TestPresetNetwork)
#include "tst_preset_network.moc"
