// The reference of settings: a section for each, which says what the manual's readers look for
// first.
#include "engine/settings/field_reference.h"

#include "engine/settings/fields.h"
#include "engine/settings/lane_titles.h"
#include "engine/settings/precision.h"
#include "engine/settings/pytorch_names.h"

#include <QtTest>

#include <string>

namespace tst_field_reference {

using namespace halfscope;

class TestFieldReference : public QObject {
    Q_OBJECT
private slots:
    void everySettingHasASection();
    void begins_data();
    void begins();
    void namesOnScreenAndInFiles();
    void pytorchNamesSettings();
    void precisions();
};

/// Its heading is the name in the window, and its last line has the key.
void TestFieldReference::everySettingHasASection() {
    const std::string text = fieldReference();
    size_t at = 0;
    for (const Field& field : fieldTable()) {
        at = text.find("### " + std::string(field.label.text()) + "\n", at);
        QVERIFY2(at != std::string::npos, field.key.c_str());
        const size_t key = text.find("\n* Key: `" + field.key + "`;", at);
        QVERIFY2(key != std::string::npos && key < text.find("### ", at + 1), field.key.c_str());
        QVERIFY2(text[at + 4 + std::string(field.label.text()).size() + 2] != '*',
                 field.key.c_str());
        at = key;
    }
}

void TestFieldReference::begins_data() {
    QTest::addColumn<QString>("section");
    QTest::newRow("a number") << "### Growth interval\n\nNumber of clean steps in a row before the "
                                 "scale grows. Short intervals probe the limit more often and skip "
                                 "more steps.\n\n* Allowed: a whole number from 1 to ";
    QTest::newRow("a choice") << "### Loss\n\nThe error that training reduces.\n\n* `mse`: ";
}

/// What it does comes first, without the choices, which have lines of their own.
void TestFieldReference::begins() {
    QFETCH(const QString, section);
    QVERIFY(QString::fromStdString(fieldReference()).contains(section));
}

void TestFieldReference::namesOnScreenAndInFiles() {
    QVERIFY(fieldReference().find("\n* Digits or clothes, `mnist`: pictures of ten classes") !=
            std::string::npos);
    const Field& task = *findField("data.kind");
    QCOMPARE(task.titles.size(), task.choices.size());
    const auto label = [](const Field& field) { return std::string(field.label.text()); };
    QCOMPARE(settingWords(task, std::string("mnist"), label),
             std::string("Task Digits or clothes"));
    QCOMPARE(settingWords(task, std::string("mnist")), std::string("kind mnist")); // in a terminal
    // a task that a preset is about has the preset's name
    for (const char* name :
         {"checkerboard", "picture", "regression", "moons", "spirals", "curve-fit", "line-fit"}) {
        const Preset& preset = presetNamed(name);
        const auto kind = static_cast<size_t>(preset.config.task.kind);
        QCOMPARE(std::string(task.titles[kind].text()), std::string(preset.title.text()));
    }
}

/// The names are those of settings that exist, and a scaler's own rules say that they are.
void TestFieldReference::pytorchNamesSettings() {
    int named = 0;
    for (const Field& field : fieldTable())
        named += nameInPyTorch(field.key).empty() ? 0 : 1;
    QVERIFY2(named > 80, qPrintable(QString::number(named))); // a misspelt key would be missing
    QCOMPARE(nameInPyTorch("scaler.growth_interval"),
             std::string_view("`growth_interval` of `torch.amp.GradScaler`"));
    QVERIFY(nameInPyTorch("scaler.hysteresis").ends_with("no such setting"));
    QVERIFY(nameInPyTorch("task.side").empty());
}

void TestFieldReference::precisions() {
    const std::string text = fieldReference();
    for (const PrecisionPreset& preset : precisionPresets())
        QVERIFY2(text.find("| `" + std::string(preset.name) + "` | ") != std::string::npos,
                 preset.name);
}

} // namespace tst_field_reference

QTEST_GUILESS_MAIN(tst_field_reference::TestFieldReference)
#include "tst_field_reference.moc"
