// The experiment as a PyTorch program: what it contains, and what is said about the rest.
#include "engine/step/pytorch_script.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/io/atomic_file.h"
#include "engine/settings/fields.h"
#include "tests/support/thrown.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

namespace tst_pytorch_script {

using namespace halfscope;

namespace {

RunConfig withSettings(const QString& preset, const QStringList& settings) {
    RunConfig config = presetNamed(preset.toStdString()).config;
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    return config;
}

/// Whether a name between braces was not filled in.
bool hasGap(const std::string& script) {
    static const QRegularExpression gap("\\{[A-Z]+\\}");
    return gap.match(QString::fromStdString(script)).hasMatch();
}

/// Whether the program chooses a device once and puts everything there. On a machine without a GPU
/// it also runs when it does not.
bool usesOneDevice(const std::string& script) {
    const QString text = QString::fromStdString(script);
    const auto always = [&text](const char* call, const char* device) {
        const QString start = QString::fromLatin1(call);
        return text.count(start) == text.count(start + QLatin1String(device));
    };
    const QString chosen = "\nDEVICE = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n";
    return text.contains(chosen) && text.count("\"cuda\"") == 1 && text.count("\"cpu\"") == 1 &&
           text.contains("x.to(DEVICE") && text.contains("target.to(DEVICE)") &&
           text.contains("model.to(DEVICE") && always("x.to(", "DEVICE") &&
           always("target.to(", "DEVICE") && always("torch.autocast(", "DEVICE, ") &&
           always("torch.amp.GradScaler(", "DEVICE, ") &&
           always("torch.rand(len(x), 1", ", device=DEVICE)\n        between") &&
           always("generate_square_subsequent_mask(", "size, x.device, ");
}

} // namespace

class TestPyTorchScript : public QObject {
    Q_OBJECT
private slots:
    void everyDataSet();
    void changingPictures_data();
    void changingPictures();
    void damagedPictures();
    void everyPreset();
    void missingFilesAreTold();
    void settings_data();
    void settings();
    void leftOut_data();
    void leftOut();
    void aMovedEnd();
    void noLane();
};

void TestPyTorchScript::everyDataSet() {
    const QTemporaryDir folder;
    const std::string table = folder.filePath("table.csv").toStdString();
    writeFileAtomically(table, "text,class\nsome text,a\n");
    for (const DataSetInfo& info : dataSets()) {
        QVERIFY2(info.python, info.name);
        TaskConfig task;
        task.x = task.y = "some.npy";
        if (info.has("data.header")) task.path = table; // its columns are looked up
        if (&info == &infoOf(TaskKind::Recorded)) {
            QVERIFY_THROWS_EXCEPTION(InputError, info.python(task, 1));
            continue;
        }
        const PythonData python = info.python(task, 1);
        QVERIFY2(python.code.find("\ndef samples():\n") != std::string::npos, info.name);
        QVERIFY2(python.code.find("\n    return ") != std::string::npos, info.name);
        QVERIFY2(!hasGap(python.code), python.code.c_str());
        QVERIFY2(python.code.ends_with('\n') && !python.code.starts_with('\n'), info.name);
    }
}

void TestPyTorchScript::changingPictures_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("path");
    QTest::newRow("pictures") << int(TaskKind::Pictures) << "folder";
    QTest::newRow("shards") << int(TaskKind::Shards) << "folder";
    QTest::newRow("mnist") << int(TaskKind::Mnist) << ""; // the digits of the program
    QTest::newRow("cifar") << int(TaskKind::Cifar) << "folder";
}

/// Pictures that change from epoch to epoch are requested batch by batch, and only when that is
/// set.
void TestPyTorchScript::changingPictures() {
    QFETCH(const int, kind);
    TaskConfig task;
    task.kind = TaskKind(kind);
    QFETCH(const QString, path);
    task.path = path.toStdString();
    PythonData python = infoOf(task.kind).python(task, 2);
    QVERIFY(python.varied.empty());
    QVERIFY(python.code.find("normalised") == std::string::npos);
    task.flip = true;
    task.mean = "0.25";
    python = infoOf(task.kind).python(task, 2);
    QVERIFY(python.varied.starts_with("\n\ndef varied(x):\n"));
    QVERIFY(python.varied.find("x.flip(3)") != std::string::npos);
    QVERIFY(python.varied.find("pad(") == std::string::npos);
    QVERIFY(python.code.find("mean = torch.tensor([0.25])[:, None, None]") != std::string::npos);
    QVERIFY(python.code.find("(normalised(x") != std::string::npos ||
            python.code.find("x = normalised(x") != std::string::npos);
    task.flip = false;
    task.crop = 3;
    task.deviation = "auto";
    python = infoOf(task.kind).python(task, 2);
    QVERIFY(python.varied.find("(3,) * 4") != std::string::npos);
    QVERIFY(python.varied.find("flip") == std::string::npos);
    QVERIFY(python.code.find("BLACK = 0\n") != std::string::npos); // varied() uses it
    QVERIFY(python.code.find("deviation = train.std(") != std::string::npos);
    QVERIFY2(!hasGap(python.code) && !hasGap(python.varied), python.code.c_str());
}

/// What is skipped here is left out there.
void TestPyTorchScript::damagedPictures() {
    for (const TaskKind kind : {TaskKind::Pictures, TaskKind::Shards}) {
        TaskConfig task;
        task.kind = kind;
        task.path = "folder";
        const auto leavesOut = [&] {
            return infoOf(kind).python(task, 2).code.find(" is left out: ") != std::string::npos;
        };
        QVERIFY(!leavesOut());
        task.damaged = Damaged::Skip;
        QVERIFY(leavesOut());
    }
}

/// The program contains each lane or says that it is left out.
void TestPyTorchScript::everyPreset() {
    for (const Preset& preset : presets()) {
        const RunConfig& config = preset.config;
        const std::string script = pytorchScript(config);
        QVERIFY2(!hasGap(script), script.c_str());
        QVERIFY2(usesOneDevice(script), script.c_str());
        for (const std::string& lane : laneNames(config)) {
            const bool trains = script.find("\n    \"" + lane + "\": dict(") != std::string::npos;
            const bool left = script.find("nothing like it: the lane " + lane) != std::string::npos;
            QVERIFY2(trains != left, (preset.name + ": " + lane).c_str());
        }
    }
}

/// The data that come with the program are too many for a script: it looks for their files and says
/// where to get them.
void TestPyTorchScript::missingFilesAreTold() {
    for (const Preset& preset : presets()) {
        const TaskConfig& task = preset.config.task;
        if (!infoOf(task.kind).fromFiles || !task.path.empty()) continue;
        const QString script = QString::fromStdString(pytorchScript(preset.config));
        for (const char* module : {"\nimport os\n", "\nimport sys\n"})
            QVERIFY2(script.contains(module), preset.name.c_str());
        const char* place =
            task.kind == TaskKind::Text ? "https://www.gnu.org/licenses/gpl-3.0.txt, or set TEXT"
            : task.kind == TaskKind::TextClasses ? "Take resources/data/words/words.csv "
                                                 : "halfscope-cli get mnist";
        QVERIFY2(script.contains("        sys.exit(\n"), preset.name.c_str());
        QVERIFY2(script.contains(place), preset.name.c_str());
    }
}

void TestPyTorchScript::settings_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QStringList>("lines"); // the lines that it then contains
    const auto row = [](const char* name, const char* preset, const QStringList& settings,
                        const QStringList& lines) {
        QTest::newRow(name) << preset << settings << lines;
    };
    row("lanes", "recipe-plain", {"lanes.1.scaler.init_scale=1024", "run.seed=7", "run.steps=9"},
        {R"(    "fp32": dict(),)",
         R"(    "amp-fp16": dict(autocast=torch.float16, scaler=dict(init_scale=1024.0)),)",
         "SEED = 7", "STEPS = 9"});
    row("scaler", "recipe-plain",
        {"lanes.1.scaler.growth_interval=20", "lanes.1.scaler.growth_factor=4",
         "lanes.1.scaler.backoff_factor=0.25"},
        {"    \"amp-fp16\": dict(autocast=torch.float16, scaler=dict(init_scale=65536.0, "
         "growth_factor=4.0, backoff_factor=0.25, growth_interval=20)),"});
    row("static scale", "static-scales", {},
        {R"(    "amp-fp16-2": dict(autocast=torch.float16, scaler=dict(init_scale=1.0), static=True),)",
         R"(        scaler.update(scale if lane.get("static") else None))"});
    row("pure", "pure-fp16", {},
        {R"(    "fp16": dict(cast=torch.float16),)",
         R"(    model = model.to(DEVICE, lane.get("cast")))",
         "    return F.mse_loss(prediction.float(), target)"});
    row("optimizer", "recipe-plain",
        {"optimizer.kind=sgd", "optimizer.lr=0.5", "optimizer.momentum=0.8",
         "optimizer.nesterov=true"},
        {"    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.8, "
         "nesterov=True)"});
    row("no decay", "recipe-plain", {"optimizer.kind=adamw", "optimizer.weight_decay=0"},
        {"    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001, weight_decay=0.0)"});
    row("schedule", "recipe-plain",
        {"schedule.kind=step", "schedule.step_size=7", "schedule.gamma=0.5"},
        {"    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.5)",
         "    scheduler = make_scheduler(optimizer, max(2, steps))", "        scheduler.step()"});
    row("milestones", "recipe-plain",
        {"schedule.kind=multi-step", "schedule.milestones=20,50", "schedule.gamma=0.1"},
        {"    return torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[20, 50], "
         "gamma=0.1)"});
    row("polynomial", "recipe-plain", {"schedule.kind=polynomial", "schedule.power=2"},
        {"    return torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=updates, "
         "power=2.0)"});
    row("warm restarts", "recipe-plain",
        {"schedule.kind=warm-restarts", "schedule.period=20", "schedule.period_factor=2"},
        {"    return torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=20, "
         "T_mult=2, eta_min=0.0)"});
    row("warm-up", "recipe-plain",
        {"schedule.kind=cosine", "schedule.warmup_steps=20", "schedule.min_lr=0.0001"},
        {"            torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / 20, "
         "total_iters=20),",
         "            torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=max(1, updates "
         "- 20), eta_min=0.0001),",
         "        milestones=[20],"});
    row("warm-up of a schedule with a length", "recipe-plain",
        {"schedule.kind=linear", "schedule.warmup_steps=20", "schedule.total_steps=50",
         "schedule.start_factor=1", "schedule.end_factor=0"},
        {"            torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1.0, "
         "end_factor=0.0, total_iters=30),"});
    row("accumulation", "recipe-accumulate", {},
        {"        scaler.scale(loss / ACCUMULATE).backward()",
         "        if (step + 1) % ACCUMULATE != 0:"});
    row("clipping", "recipe-clip-inf", {},
        {"        scaler.unscale_(optimizer)",
         "        nn.utils.clip_grad_norm_(model.parameters(), 2.0, norm_type=\"inf\")"});
    row("penalty", "recipe-penalty", {"gradients.penalty=0.25"},
        {"            total = loss + 0.25 * squares.sqrt()"});
    row("two networks", "recipe-two-optimizers", {},
        {"                loss_of(3 * outputs[0] - 5 * outputs[1], target),",
         "            scaler.scale(loss).backward(retain_graph=True)"});
    row("weights", "recipe-plain", {"model.weights=w.safetensors"},
        {"        model.load_state_dict(weights)"});
    row("a part of the weights", "recipe-plain",
        {"model.weights=w.safetensors", "model.partial_weights=true"},
        {"        model.load_state_dict(weights, strict=False)"});
    row("a part of the weights of two networks", "recipe-two-optimizers",
        {"model.weights=w.safetensors", "model.partial_weights=true"},
        {"            network.load_state_dict({name[len(start) :]: weights[name] for name in "
         "names}, strict=False)"});
    row("loss", "recipe-plain", {"task.loss=huber", "task.loss_delta=2"},
        {"    return F.huber_loss(prediction, target, delta=2.0)"});
    row("classes", "mnist-mlp", {"task.label_smoothing=0.1", "data.shuffle=false"},
        {"    return F.cross_entropy(prediction, target, label_smoothing=0.1)",
         "        order = torch.arange(len(x))", "    return model(x.flatten(1))"});
    row("class weights", "mnist-mlp",
        {"task.class_weights=1,0.5, 2,1,1,1,1,1,1,1e3", "task.label_smoothing=0.1"},
        {"    weight = torch.tensor([1.0, 0.5, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1000.0], "
         "device=prediction.device)",
         "    return F.cross_entropy(prediction, target, weight=weight, label_smoothing=0.1)"});
    row("balanced classes", "mnist-mlp", {"task.class_weights=balanced"},
        {"    counts = torch.bincount(target.flatten(), minlength=10).double()",
         "    CLASS_WEIGHTS = feed[\"class_weights\"] if feed else balanced(data[1])",
         "    weight = CLASS_WEIGHTS.to(prediction.device)",
         "    return F.cross_entropy(prediction, target, weight=weight)"});
    row("a layer in a type of its own", "recipe-plain",
        {"model.layers=nn.Sequential(nn.Unflatten(1, (2, 5)), nn.ConvTranspose1d(2, 3, 2), "
         "nn.Flatten(), nn.Linear(18, 1))",
         "lanes.1.precision.layers=ConvTranspose1d 1=bfloat16"},
        {R"(    "amp-fp16": dict(autocast=torch.float16, layers={"1": torch.bfloat16}, )"
         "scaler=dict(init_scale=65536.0)),"});
    row("images", "checkerboard",
        {"model.layers=nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.Sine(), "
         "nn.Conv2d(8, 1, 1, bias=False))"},
        {"        nn.Conv2d(2, 8, 3, padding=1),", "        Sine(),",
         "        nn.Conv2d(8, 1, 1, bias=False),",
         "class Sine(nn.Module):", "    return model(picture).flatten(2)[0].T"});
    row("named layers", "recipe-plain",
        {"model.layers=nn.Sequential(first=nn.Linear(10, 4), rest=nn.Sequential(nn.ReLU(), "
         "Residual(nn.Linear(4, 4)), nn.Linear(4, 1)))"},
        {"from collections import OrderedDict", "    return nn.Sequential(OrderedDict([",
         R"(        ("first", nn.Linear(10, 4)),)", "            Residual(",
         "class Residual(nn.Sequential):"});
}

void TestPyTorchScript::settings() {
    QFETCH(const QString, preset);
    QFETCH(const QStringList, settings);
    QFETCH(const QStringList, lines);
    const QString script = QString::fromStdString(pytorchScript(withSettings(preset, settings)));
    for (const QString& line : lines)
        QVERIFY2(script.split('\n').contains(line),
                 qPrintable(line + "\nis missing in\n" + script));
}

void TestPyTorchScript::leftOut_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QString>("what");
    QTest::newRow("nothing") << QStringList{} << QString();
    QTest::newRow("a rule") << QStringList{"lanes.1.scaler.hysteresis=2"}
                            << "scaler.hysteresis 2 of amp-fp16";
    QTest::newRow("a lane") << QStringList{"lanes.1.precision=keras-mixed-float16"}
                            << "the lane keras-mixed-float16";
    QTest::newRow("a norm in 16 bits") << QStringList{"lanes.1.precision.layers=norm 0=bfloat16"}
                                       << "precision.layers norm 0=bfloat16 of amp-fp16";
    QTest::newRow("16 bits without autocast")
        << QStringList{"lanes.0.precision.layers=layer 0=float16, layer 1=float32"}
        << "precision.layers layer 0=float16 of fp32";
    const QString encoder = "model.layers=nn.Sequential(nn.Unflatten(1, (5, 2)), "
                            "nn.TransformerEncoderLayer(2, 1, 4, 0., batch_first=True), "
                            "nn.Flatten(), nn.Linear(10, 1))";
    QTest::newRow("parts of a layer")
        << QStringList{encoder, "lanes.1.precision.layers=TransformerEncoderLayer 1.linear1="
                                "bfloat16, TransformerEncoderLayer 1.norm2=float32"}
        << QString();
    QTest::newRow("attention")
        << QStringList{encoder,
                       "lanes.1.precision.layers=TransformerEncoderLayer 1.self_attn=float32"}
        << "precision.layers TransformerEncoderLayer 1.self_attn=float32 of amp-fp16";
    QTest::newRow("a part in a type of its own")
        << QStringList{encoder, "lanes.1.precision.layers=TransformerEncoderLayer 1=float32, "
                                "TransformerEncoderLayer 1.linear1=float16"}
        << "precision.layers TransformerEncoderLayer 1.linear1=float16 of amp-fp16";
    QTest::newRow("a transposed convolution")
        << QStringList{"model.layers=nn.Sequential(nn.Unflatten(1, (2, 5)), "
                       "nn.ConvTranspose1d(2, 3, 2), nn.Flatten(), nn.Linear(18, 1))",
                       "lanes.1.precision.layers=ConvTranspose1d 1=bfloat16"}
        << QString();
    QTest::newRow("the loss") << QStringList{"lanes.1.precision.layers=loss=float32"}
                              << "precision.layers loss=float32 of amp-fp16";
    QTest::newRow("a network in 16 bits")
        << QStringList{"lanes.1.precision=bf16", "lanes.1.scaler.mode=off",
                       "lanes.1.precision.layers=output layer=float32"}
        << "precision.layers output layer=float32 of bf16";
    QTest::newRow("two networks") << QStringList{"model.networks=2",
                                                 "lanes.1.precision.layers=output layer=float32"}
                                  << "precision.layers output layer=float32 of amp-fp16";
}

void TestPyTorchScript::leftOut() {
    QFETCH(const QStringList, settings);
    QFETCH(const QString, what);
    const QString script =
        QString::fromStdString(pytorchScript(withSettings("recipe-plain", settings)));
    const QString start = "# Left out, because PyTorch has nothing like it: ";
    if (what.isEmpty())
        QVERIFY2(!script.contains(start), qPrintable(script));
    else
        QVERIFY2(script.split('\n').contains(start + what), qPrintable(script));
}

/// A run that was continued past its end is no shorter as a program, and has nothing that PyTorch
/// lacks. Its learning rates are those of the first length.
void TestPyTorchScript::aMovedEnd() {
    RunConfig config = withSettings("recipe-plain", {"run.steps=100", "schedule.kind=cosine"});
    config.edits.push_back({101, -1, "run.steps", int64_t{300}});
    const std::string script = pytorchScript(config);
    QVERIFY(script.find("# Left out") == std::string::npos);
    RunConfig planned = config;
    planned.edits.clear();
    planned.steps = 300;
    planned.schedule.totalSteps = 100;
    QCOMPARE(QString::fromStdString(script), QString::fromStdString(pytorchScript(planned)));
    config.edits.push_back({201, -1, "optimizer.lr", 0.5});
    QVERIFY(pytorchScript(config).find("settings that change on the way") != std::string::npos);
}

void TestPyTorchScript::noLane() {
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("apex-o2,keras-mixed-float16");
    QCOMPARE(
        thrownBy<InputError>([&] { pytorchScript(config); }),
        std::string("lanes: PyTorch has none of these precisions: apex-o2, keras-mixed-float16"));
}

} // namespace tst_pytorch_script

QTEST_APPLESS_MAIN(tst_pytorch_script::TestPyTorchScript)
#include "tst_pytorch_script.moc"
