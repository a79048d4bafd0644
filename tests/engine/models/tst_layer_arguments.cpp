// Arguments that are words or numbers, and those that must fit the input: which are accepted and
// which refused, and how they are printed and written for PyTorch; and what is said of PyTorch's
// other containers. tst_layers compares the values.
#include "engine/core/error.h"
#include "engine/models/layer_arguments.h"
#include "engine/models/model_spec.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <cmath>

namespace tst_layer_arguments {

using namespace halfscope;

namespace {

std::string refusalOf(const char* model, const Shape& in) {
    return thrownBy<InputError>([&] { outputOf(readModel(model), {in, DType::F32}); });
}

} // namespace

class TestLayerArguments : public QObject {
    Q_OBJECT

private slots:
    void paddingWords();
    void refusesPaddingWords();
    void placesThatAreLeft();
    void identityTakesAny();
    void groupsAndDilation();
    void refusesGroupsAndDilation();
    void slopes();
    void wholeNumbers();
    void kindsOfGelu();
    void otherContainers();
};

void TestLayerArguments::paddingWords() {
    const ModelSpec same = readModel("Conv2d(2, 6, (3, 5), padding='same')");
    QCOMPARE(same.root.pair("padding"), (std::array<int64_t, 2>{1, 2}));
    QCOMPARE(textOf(same),
             std::string("Conv2d(2, 6, kernel_size=(3, 5), stride=(1, 1), padding=same)"));
    QCOMPARE(pythonOf(readModel("Conv2d(2, 6, 3, padding=same)"), ""),
             std::string("nn.Conv2d(2, 6, 3, padding='same')"));
    QCOMPARE(pythonOf(readModel("Conv1d(2, 6, 3, 2, 'valid', bias=False)"), ""),
             std::string("nn.Conv1d(2, 6, 3, stride=2, padding='valid', bias=False)"));
    QCOMPARE(pythonOf(readModel("Conv2d(2, 6, 3, padding=1, padding_mode=reflect)"), ""),
             std::string("nn.Conv2d(2, 6, 3, padding=1, padding_mode='reflect')"));
    QCOMPARE(pythonOf(readModel("BatchNorm1d(4, momentum=None, track_running_stats=False)"), ""),
             std::string("nn.BatchNorm1d(4, momentum=None, track_running_stats=False)"));
    QCOMPARE(pythonOf(readModel("Conv2d(2, 6, 3, padding=1)"), ""),
             std::string("nn.Conv2d(2, 6, 3, padding=1)"));
    QCOMPARE(readModel("Conv2d(2, 6, 1, padding='same')").root.pair("padding"),
             (std::array<int64_t, 2>{0, 0}));
    // what is left of an odd sum goes to the end
    const char* even = "Conv2d(3, 2, kernel_size=(3, 4), stride=(1, 1), padding=same)";
    const ModelSpec uneven = readModel("Conv2d(3, 2, (3, 4), padding='same')");
    QCOMPARE(textOf(uneven), std::string(even));
    QCOMPARE(outputOf(uneven, {{1, 3, 5, 1}, DType::F32}).shape, (Shape{1, 2, 5, 1}));
    QCOMPARE(pythonOf(readModel("Conv1d(3, 2, 2, padding='same')"), ""),
             std::string("nn.Conv1d(3, 2, 2, padding='same')"));
}

void TestLayerArguments::refusesPaddingWords() {
    const Shape image{1, 3, 5, 5};
    QCOMPARE(refusalOf("Conv1d(3, 2, 3, 2, 'same')", {1, 3, 5}),
             std::string("line 1, column 1: Conv1d(3, 2, 3, 2, 'same'): padding='same' needs a "
                         "stride of 1, as in PyTorch"));
    QCOMPARE(refusalOf("Conv2d(3, 2, 3, padding='reflect')", image),
             std::string("line 1, column 25: Conv2d: padding='reflect' is not allowed: a whole "
                         "number from 0 to 4096, or two of them such as (2, 2), 'same' or "
                         "'valid'"));
    QVERIFY(refusalOf("ConvTranspose2d(3, 2, 3, padding='same')", image)
                .ends_with("is not allowed: a whole number from 0 to 4096, or two of them such as "
                           "(2, 2)"));
}

/// As torch.nn's own layers pass them on.
void TestLayerArguments::placesThatAreLeft() {
    QCOMPARE(textOf(readModel("nn.Linear(8, 2, device=None, dtype=None)")),
             textOf(readModel("nn.Linear(8, 2)")));
    QCOMPARE(textOf(readModel("nn.Linear(8, 2, dtype=None, bias=False)")),
             textOf(readModel("nn.Linear(8, 2, bias=False)")));
    QVERIFY(thrownBy<InputError>([] {
                readModel("Tanh(device=None)");
            }).ends_with("Tanh takes no arguments, found None"));
    for (const char* text :
         {"nn.Linear(8, 2, device=device, dtype=torch.float32)",
          "nn.Linear(8, 2, device=torch.device('cuda'))", "nn.Linear(8, 2, dtype=torch.float)"})
        QCOMPARE(textOf(readModel(text)), textOf(readModel("nn.Linear(8, 2)")));
    QCOMPARE(thrownBy<InputError>([] { readModel("Linear(8, 2, dtype=torch.float16)"); }),
             std::string("line 1, column 14: \"dtype=torch.float16\" is not supported here: the "
                         "precision of each lane chooses its types; leave it out"));
}

/// As in PyTorch, where it stands in the place of layers that have some.
void TestLayerArguments::identityTakesAny() {
    for (const char* text : {"nn.Identity(54, x=1)", "nn.Identity('a', (1, 2), device=None)"}) {
        const ModelSpec model = readModel(text);
        QCOMPARE(textOf(model), std::string("Identity()"));
        QCOMPARE(outputOf(model, {{2, 3}, DType::F32}).shape, (Shape{2, 3}));
    }
    QCOMPARE(thrownBy<InputError>([] { readModel("Identity(x=1, 2)"); }),
             std::string("line 1, column 15: Identity: 2 needs a name, because it follows a named "
                         "argument"));
}

void TestLayerArguments::groupsAndDilation() {
    const char* depthwise = "Conv2d(32, 32, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), "
                            "groups=32, bias=False)";
    QCOMPARE(textOf(readModel("nn.Conv2d(32, 32, 3, 1, 1, 1, 32, False)")), std::string(depthwise));
    QCOMPARE(textOf(readModel(depthwise)), std::string(depthwise));
    QCOMPARE(pythonOf(readModel(depthwise), ""),
             std::string("nn.Conv2d(32, 32, 3, padding=1, groups=32, bias=False)"));
    const auto parameters = parametersOf(readModel("Conv2d(6, 4, (3, 5), groups=2)"));
    QCOMPARE(parameters[0].info.shape, (Shape{4, 3, 3, 5}));
    for (const NamedParameter& each : parameters) // of 3 x 3 x 5 values that an output sees
        QCOMPARE(each.info.start.value, 1 / std::sqrt(45.0));
    QCOMPARE(parametersOf(readModel("ConvTranspose2d(6, 4, 3, groups=2)"))[0].info.shape,
             (Shape{6, 2, 3, 3}));

    const ModelSpec same = readModel("Conv2d(2, 6, (3, 4), padding='same', dilation=(3, 2))");
    QCOMPARE(same.root.pair("padding"), (std::array<int64_t, 2>{3, 3}));
    QCOMPARE(outputOf(same, {{1, 2, 9, 8}, DType::F32}).shape, (Shape{1, 6, 9, 8}));
    QCOMPARE(readModel("Conv2d(2, 6, 3, padding='same', dilation=(1, 2))").root.pair("padding"),
             (std::array<int64_t, 2>{1, 2}));
    QCOMPARE(
        textOf(readModel("ConvTranspose2d(4, 6, 3, 2, 0, 1, 2, True, 2)")),
        std::string("ConvTranspose2d(4, 6, kernel_size=(3, 3), stride=(2, 2), dilation=(2, 2), "
                    "output_padding=(1, 1), groups=2)"));
}

void TestLayerArguments::refusesGroupsAndDilation() {
    const Shape image{1, 4, 5, 5};
    QCOMPARE(refusalOf("Conv2d(4, 6, 3, groups=4)", image),
             std::string("line 1, column 1: Conv2d(4, 6, 3, groups=4): out_channels must be "
                         "divisible by groups"));
    QCOMPARE(refusalOf("Conv1d(4, 6, 3, groups=3)", image),
             std::string("line 1, column 1: Conv1d(4, 6, 3, groups=3): in_channels must be "
                         "divisible by groups"));
    QCOMPARE(refusalOf("ConvTranspose2d(4, 6, 3, groups=4)", image),
             std::string("line 1, column 1: ConvTranspose2d(4, 6, 3, groups=4): out_channels must "
                         "be divisible by groups"));
    QCOMPARE(refusalOf("ConvTranspose2d(4, 6, 3, dilation=2, output_padding=(1, 2))", image),
             std::string("line 1, column 1: ConvTranspose2d(4, 6, 3, dilation=2, "
                         "output_padding=(1, 2)): output_padding must be smaller than stride or "
                         "dilation"));
    QCOMPARE(refusalOf("Conv2d(4, 6, 3, groups=0)", image),
             std::string("line 1, column 24: Conv2d: groups=0 is not allowed: a whole number from "
                         "1 to 1048576"));
    QCOMPARE(refusalOf("Conv2d(4, 6, 3, dilation=0)", image),
             std::string("line 1, column 26: Conv2d: dilation=0 is not allowed: a whole number "
                         "from 1 to 4096, or two of them such as (2, 2)"));
    QCOMPARE(refusalOf("Conv2d(4, 6, 3, dilation=(2, 3))", image),
             std::string("line 1, column 1: Conv2d(4, 6, 3, dilation=(2, 3)): the kernel with its "
                         "dilation is larger than the input, (1, 4, 5, 5), with its padding"));
    QCOMPARE(refusalOf("Conv1d(4, 6, 3, dilation=3)", {1, 4, 6}),
             std::string("line 1, column 1: Conv1d(4, 6, 3, dilation=3): the kernel with its "
                         "dilation is larger than the input, (1, 4, 6), with its padding"));
}

void TestLayerArguments::slopes() {
    const auto parameters = parametersOf(readModel("Sequential(PReLU(), PReLU(6, init=0.1))"));
    QCOMPARE(parameters.size(), size_t{2});
    QCOMPARE(parameters[1].name, std::string("1.weight"));
    QCOMPARE(parameters[1].info.shape, (Shape{6}));
    QCOMPARE(parameters[0].info.start.value, 0.25);
    QCOMPARE(parameters[1].info.start.value, 0.1);
    QCOMPARE(pythonOf(readModel("PReLU(6, 0.1)"), ""),
             std::string("nn.PReLU(num_parameters=6, init=0.1)"));
    QCOMPARE(refusalOf("PReLU(4)", {1, 3, 5, 5}),
             std::string("line 1, column 1: PReLU(4): the input has the shape (1, 3, 5, 5); with 4 "
                         "slopes, its axis 1 must have as many"));
}

/// A number that is not whole is shown as it is.
void TestLayerArguments::wholeNumbers() {
    const std::string said = "line 1, column 8: Linear: in_features=784.0 is not allowed: a whole ";
    QVERIFY(refusalOf("Linear(784.0, 10)", {2, 784}).starts_with(said));
    QVERIFY(refusalOf("Linear(1e2, 10)", {2, 100}).find("in_features=100.0 is not") !=
            std::string::npos);
}

void TestLayerArguments::kindsOfGelu() {
    QCOMPARE(pythonOf(readModel("GELU('tanh')"), ""), std::string("nn.GELU(approximate='tanh')"));
    QCOMPARE(pythonOf(readModel("GELU('none')"), ""), std::string("nn.GELU()"));
}

void TestLayerArguments::otherContainers() {
    const std::string none = " is not a layer of this program; ";
    QCOMPARE(
        refusalOf("Sequential((0): Net(\n  (flatten): Flatten(start_dim=1, end_dim=-1)\n))",
                  {2, 8}),
        "line 1, column 17: \"Net\"" + none +
            "PyTorch prints the layers of a class in the order of their names in it: if its "
            "forward() uses them in this order, write Sequential in place of its name; if it "
            "adds its input to the result, write Residual, with the name shortcut for the "
            "layer that its input goes through, inside Sequential(Residual(...), ReLU()) where "
            "a ReLU follows the sum");
    for (const std::string wrapper : {"OptimizedModule", "DataParallel", "nn.DataParallel",
                                      "DistributedDataParallel", "FullyShardedDataParallel"})
        QCOMPARE(refusalOf((wrapper + "(\n  (module): Linear(8, 3)\n)").c_str(), {2, 8}),
                 "line 1, column 1: \"" + wrapper + "\"" + none +
                     "it is a wrapper: paste the network that stands inside it");
    QCOMPARE(refusalOf("TransformerEncoder(TransformerEncoderLayer(8, 2), 2)", {2, 8}),
             "line 1, column 1: \"TransformerEncoder\"" + none +
                 "write its TransformerEncoderLayer(...) once for each of its num_layers");
    QCOMPARE(refusalOf("nn.ModuleList([nn.Linear(8, 3)])", {2, 8}),
             "line 1, column 1: \"nn.ModuleList\"" + none +
                 "write Sequential(...) without brackets [ ]");
    QCOMPARE(refusalOf("ModuleList(\n  (0-1): 2 x Linear(8, 8)\n)", {2, 8}),
             "line 1, column 1: \"ModuleList\"" + none +
                 "print() does not tell how forward() runs these layers: write Sequential in its "
                 "place if it runs one after the other, and Residual in place of each that it adds "
                 "its input to");
    // PyTorch refuses an empty name, and a name ends where its last letter does
    QCOMPARE(refusalOf("Sequential(OrderedDict([('', Tanh())]))", {2, 8}),
             std::string("line 1, column 26: \"\" is not a layer's name: letters, digits, _ and -, "
                         "at most 100 of them"));
    const std::string foreign = refusalOf("nn.L\xC3\xADne\xC3\xA1r(8, 1)", {2, 8});
    QVERIFY2(foreign.starts_with("line 1, column 1: \"nn.L\xC3\xADne\xC3\xA1r\" is not a layer "),
             foreign.c_str());
}

} // namespace tst_layer_arguments

QTEST_APPLESS_MAIN(tst_layer_arguments::TestLayerArguments)
#include "tst_layer_arguments.moc"
