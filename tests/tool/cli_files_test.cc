// Files that users give the tool: what they are, what they become, and that none is lost.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "aot/base/error.h"
#include "apps/ingot/files/npy.h"
#include "tests/support/error_of.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

using CliFilesTest = CliTest;
using nlohmann::json;

// A .npy file with this header and these data.
std::string npy(std::string header, std::string_view data) {
  header += '\n';
  const auto bytes = static_cast<uint16_t>(header.size());
  std::string file("\x93NUMPY\x01\x00", 8);
  file.append(reinterpret_cast<const char*>(&bytes), 2);
  return file + header + std::string(data);
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
SafeTensor array(const std::string& dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  return {dtype, std::move(shape), std::as_bytes(std::span(values))};
}

const std::string kShape = "(8, 4)";
std::string header(const std::string& descr, const std::string& shape = kShape, const std::string& order = "False") {
  return fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}", descr, order, shape);
}

TEST(Npy, HeadersAreParsed) {
  const NpyHeader plain = parse_npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (64, 784), }   \n");
  EXPECT_EQ(plain.type.dtype, DType::kF32);
  EXPECT_EQ(plain.type.shape, (std::vector<int64_t>{64, 784}));
  EXPECT_FALSE(plain.is_fortran_order);
  EXPECT_EQ(parse_npy_header("{\"shape\":(),\"descr\":\"|b1\",\"fortran_order\":True}").type.dtype, DType::kI1);
  EXPECT_EQ(parse_npy_header(header("'<c8'", "(3,)")).type.shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(parse_npy_header(header("'>f4'", "(3,)")).type.dtype, std::nullopt);
  EXPECT_EQ(parse_npy_header(header("'<V2'", "(3,)")).type.dtype, std::nullopt);
  for (const char* wrong : {"", "{", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 784)",
                            "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
                            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 'x'}",
                            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
                            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"}) {
    EXPECT_THROW(parse_npy_header(wrong), Error) << wrong;
  }
}

TEST_F(CliFilesTest, NpyFilesAreTakenAsTheyAreOrRefused) {
  compile_both();
  const std::vector<float> ones(32, 1);
  const std::vector<double> doubles(32, 1);
  const std::string data = bytes_of(ones);
  const auto run = [](const std::string& file) {
    return "run net.ingot predict --state first.safetensors --input x=@" + file;
  };
  write("plain.npy", npy(header("'<f4'"), data));
  EXPECT_NE(done(run("plain.npy")).find("= [0, 0, 0, 0, 0, 0, 0, 0]"), std::string::npos);
  const struct {
    std::string name, content, says;
  } mistakes[] = {
      {"struct.npy", npy(header("[('a', '<f4')]"), data), "structured arrays are not read"},
      {"fortran.npy", npy(header("'<f4'", kShape, "True"), data), "ascontiguousarray"},
      {"long.npy", npy(header("'<f4'"), data + "more"), "has 132 bytes of data; <f4[8,4] take 128"},
      {"short.npy", npy(header("'<f4'"), data.substr(4)), "has 124 bytes of data"},
      {"big.npy", npy(header("'>f4'"), data), "which ingot does not read"},
      {"f8.npy", npy(header("'<f8'"), bytes_of(doubles)),
       "is <f8[8,4], but the input is x: f32[8,4]; --cast converts it"},
      {"narrow.npy", npy(header("'<f4'", "(8, 2)"), data.substr(64)), "is <f4[8,2], but the input is x: f32[8,4]\n"},
      {"none.npy", "NUMPY", "is not a .npy file"},
  };
  for (const auto& mistake : mistakes) {
    write(mistake.name, mistake.content);
    const std::string says = refused(run(mistake.name));
    EXPECT_NE(says.find(mistake.says), std::string::npos) << mistake.name << ": " << says;
    EXPECT_NE(says.find(mistake.name), std::string::npos) << says;
  }
  done(run("f8.npy") + " --cast");
}

TEST_F(CliFilesTest, NumbersFitOrAreRefused) {
  write("ids.mlir",
        "func.func @main(%i: tensor<i8> {ingot.name = \"i\"}, %x: tensor<f32> {ingot.name = \"x\"}) -> tensor<i8> {\n"
        "  return %i : tensor<i8>\n}\n");
  done("compile ids.mlir -o ids.ingot");
  EXPECT_NE(done("run ids.ingot --input i=-128 --input x=0.1").find("= -128"), std::string::npos);
  for (const char* wrong : {"i=1.7", "i=128", "i=1e30", "i=nan", "x=1e400", "x=1e39"}) {
    EXPECT_NE(refused(fmt::format("run ids.ingot --input i=1 --input x=1 --input {}", wrong)).find(" is no "),
              std::string::npos)
        << wrong;
  }
  const std::vector<int64_t> small = {-5}, large = {300};
  write_safetensors(path("ints.safetensors"), {{"small", array("I64", {}, small)}, {"large", array("I64", {}, large)}});
  EXPECT_NE(refused("run ids.ingot --input x=1 --input i=@ints.safetensors:small").find("--cast"), std::string::npos);
  EXPECT_NE(done("run ids.ingot --cast --input x=1 --input i=@ints.safetensors:small").find("= -5"), std::string::npos);
  EXPECT_NE(refused("run ids.ingot --cast --input x=1 --input i=@ints.safetensors:large").find("element 0 is 300"),
            std::string::npos);
  EXPECT_NE(refused("run ids.ingot --input x=1 --input i=@ints.safetensors:smal").find("did you mean 'small'?"),
            std::string::npos);
}

TEST_F(CliFilesTest, DataOfSeveralFilesIsOneAfterTheOther) {
  compile_both();
  const SafeTensors all = SafeTensors::read(path("data.safetensors"));
  const auto part = [&](const std::string& name, int64_t first, int64_t count) {
    std::map<std::string, SafeTensor> tensors;
    for (const char* key : {"batch.x", "batch.y"}) {
      SafeTensor tensor = *all.find(key);
      const size_t row = tensor.data.size() / static_cast<size_t>(tensor.shape[0]);
      tensor.data = tensor.data.subspan(static_cast<size_t>(first) * row, static_cast<size_t>(count) * row);
      tensor.shape[0] = count;
      tensors[key] = tensor;
    }
    write_safetensors(path(name), tensors);
  };
  part("a.safetensors", 0, 2);
  part("b.safetensors", 2, 3);
  const std::string train = "train net.ingot --entry train_step --set lr=0.05 --state zeros --steps 7 ";
  done(train + "--data data.safetensors --save whole.safetensors");
  done(train + "--data a.safetensors,b.safetensors --save parts.safetensors");
  done(train + "--data a.safetensors --data b.safetensors --save again.safetensors");
  EXPECT_EQ(weights("parts.safetensors"), weights("whole.safetensors"));
  EXPECT_EQ(weights("again.safetensors"), weights("whole.safetensors"));
}

TEST_F(CliFilesTest, DataOfOtherTypesIsCastOnRequest) {
  compile_both();
  const SafeTensors all = SafeTensors::read(path("data.safetensors"));
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, SafeTensor> doubles;
  for (const char* key : {"batch.x", "batch.y"}) {
    const SafeTensor& tensor = *all.find(key);
    const auto* floats = reinterpret_cast<const float*>(tensor.data.data());
    values[key].assign(floats, floats + tensor.data.size() / sizeof(float));
    doubles[key] = array("F64", tensor.shape, values[key]);
  }
  write_safetensors(path("doubles.safetensors"), doubles);
  const std::string train = "train net.ingot --entry train_step --set lr=0.05 --state zeros ";
  EXPECT_NE(refused(train + "--data doubles.safetensors").find("--cast converts it"), std::string::npos);
  done(train + "--data doubles.safetensors --cast --save cast.safetensors");
  done(train + "--data data.safetensors --save same.safetensors");
  EXPECT_EQ(weights("cast.safetensors"), weights("same.safetensors"));
}

TEST_F(CliFilesTest, DataThatBecomesShorterIsAnError) {
  const std::vector<float> values(1 << 20, 1);
  write_safetensors(path("big.safetensors"), {{"x", array("F32", {1 << 20}, values)}});
  const SafeTensorsReader reader(path("big.safetensors"));
  std::vector<std::byte> row(4096);
  reader.read(reader.arrays().at("x"), 4 << 19, row);
  float first = 0;
  std::memcpy(&first, row.data(), sizeof first);
  EXPECT_EQ(first, 1);
  std::filesystem::resize_file(path("big.safetensors"), 100'000);
  const std::string error = error_of([&] { reader.read(reader.arrays().at("x"), 4 << 19, row); });
  EXPECT_NE(error.find("big.safetensors: has become shorter"), std::string::npos) << error;
}

TEST_F(CliFilesTest, KeysThatAreMeantAreNamed) {
  compile_both();
  const std::vector<float> xs(5 * 8 * 4), ys(5 * 8);
  write_safetensors(path("typo.safetensors"),
                    {{"batch.X", array("F32", {5, 8, 4}, xs)}, {"batch.y", array("F32", {5, 8}, ys)}});
  const std::string train = "train net.ingot --entry train_step --set lr=1 --state zeros --data ";
  EXPECT_NE(refused(train + "typo.safetensors").find("did you mean 'batch.X'?"), std::string::npos);
  write_safetensors(path("other.safetensors"),
                    {{"images", array("F32", {5, 8, 4}, xs)}, {"batch.y", array("F32", {5, 8}, ys)}});
  EXPECT_NE(refused(train + "other.safetensors").find("there are: batch.y, images"), std::string::npos)
      << "batch.y is another input";
  const std::vector<float> w(4);
  write_safetensors(path("W.safetensors"), {{"W", array("F32", {4}, w)}});
  const std::string says = refused("run net.ingot predict --input x=1 --state W.safetensors");
  EXPECT_NE(says.find("W.safetensors"), std::string::npos) << says;
  EXPECT_NE(says.find("did you mean 'W'?"), std::string::npos) << says;
}

TEST_F(CliFilesTest, OtherFormatsAreNamedWithWhatToDo) {
  compile_both();
  write("model.onnx", std::string("\x08\x07\x12\x07pytorch", 11));
  write("model", read_text(path("model.onnx")));
  write("step.bytecode", "ML\xefR\x0dStableHLO_v1.0.0");
  write("model.pt", std::string("PK\x03\x04\x14\x00\x00\x00", 8));
  write("old.pt", "\x80\x02}q\x01.");
  std::filesystem::create_directory(path("folder"));
  write("folder/model.onnx", read_text(path("model.onnx")));
  const struct {
    std::string arguments, says;
  } cases[] = {
      {"compile model.onnx -o x.ingot", "model.onnx: is no ONNX model that can be read: it has no graph"},
      {"compile folder -o x.ingot", "folder/model.onnx: is no ONNX model that can be read"},
      {"check model.onnx", "is an ONNX model"},
      {"compile model -o x.ingot", "model: is an ONNX model; give it a name that ends in .onnx"},
      {"inspect model.onnx", "is an ONNX model; compile it"},
      {"run net.ingot predict --input x=1 --state model.onnx", "is an ONNX model; write its weights"},
      {"import step.mlir", "step.mlir: is no ONNX model"},
      {"opt step.bytecode", "is MLIR bytecode; write it as text"},
      {"compile model.pt -o x.ingot", "is a zip archive"},
      {"compile old.pt -o x.ingot", "is a pickle"},
      {"compile net.ingot -o x.ingot", "is an ingot bundle; it is compiled already"},
      {"compile data.safetensors -o x.ingot", "is a safetensors file; give a program"},
      {"opt net.ingot", "is an ingot bundle"},
      {"run step.mlir", "is a program; make a bundle of its program: ingot compile"},
      {"inspect data.safetensors", "is a safetensors file"},
      {"run net.ingot predict --input x=1 --state model.pt", "model.pt: is a zip archive"},
      {"train net.ingot --entry train_step --data net.ingot --set lr=1", "is an ingot bundle; give a safetensors file"},
  };
  for (const auto& [arguments, says] : cases) {
    const std::string said = refused(arguments);
    EXPECT_NE(said.find(says), std::string::npos) << arguments << ": " << said;
    for (const char c : said) EXPECT_TRUE(c == '\n' || (c >= ' ' && c != '\x7f')) << arguments;
  }
}

// The first bytes of a safetensors file are the length of its header: 640 is 80 02, with which pickles begin too.
TEST_F(CliFilesTest, NoLengthOfAHeaderIsTakenForAFormat) {
  compile_both();
  const std::string header = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
  for (const uint64_t length : {uint64_t{0x280}, uint64_t{0x480}, uint64_t{0x8b1f}}) {
    std::string file(reinterpret_cast<const char*>(&length), sizeof length);
    file += header + std::string(length - header.size(), ' ') + std::string(16, '\0');
    write("state.safetensors", file);
    done("run net.ingot predict --input x=1 --state state.safetensors");
  }
}

TEST_F(CliFilesTest, SizesInHeadersAreWholeNumbers) {
  for (const char* sizes : {R"("shape":[1.5],"data_offsets":[0,4])", R"("shape":[-1],"data_offsets":[0,4])",
                            R"("shape":[1],"data_offsets":[0,4.0])", R"("shape":[1],"data_offsets":"0,4")",
                            R"("shape":[],"data_offsets":[18446744073709551612,18446744073709551616])"}) {
    const std::string header = R"({"x":{"dtype":"F32",)" + std::string(sizes) + "}}";
    const uint64_t length = header.size();
    write("odd.safetensors", std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + "0123");
    const std::string said = error_of([&] { SafeTensors::read(path("odd.safetensors")); });
    EXPECT_NE(said.find("tensor 'x': its "), std::string::npos) << sizes << ": " << said;
    EXPECT_THROW(SafeTensorsReader reader(path("odd.safetensors")), Error) << sizes;
  }
}

TEST_F(CliFilesTest, WhatIsReadIsNeverOverwritten) {
  compile_both();
  std::filesystem::create_symlink("step.mlir", path("link.mlir"));
  for (const char* arguments :
       {"compile step.mlir -o step.mlir", "compile train_step=step.mlir -o step.mlir", "compile link.mlir -o step.mlir",
        "opt step.mlir -o ./step.mlir", "header net.ingot -o net.ingot",
        "run net.ingot predict --state zeros --input x=@data.safetensors:x --save-state data.safetensors",
        "train net.ingot --entry train_step --set lr=1 --state zeros --data data.safetensors --save data.safetensors",
        "train net.ingot --entry train_step --set lr=1 --state zeros --data data.safetensors --log net.ingot"}) {
    const std::string file = arguments;
    std::map<std::string, std::string> before;
    for (const std::string& name : files()) before[name] = read_text(path(name));
    EXPECT_NE(refused(arguments).find("would be overwritten"), std::string::npos) << arguments;
    for (const auto& [name, text] : before) EXPECT_EQ(read_text(path(name)), text) << name;
  }
}

// Also while the libraries of the tool are loaded; the loader's own errors have the code 127.
TEST_F(CliFilesTest, TooLittleMemoryIsAnError) {
  int refused = 0;
  for (int mebibytes = 150; mebibytes < 300; mebibytes += 5) {
    const std::string line = fmt::format("cd {} && ulimit -c 0 && ulimit -v {} && {} --version >out 2>said",
                                         folder_.path().string(), 1024 * mebibytes, INGOT_TOOL);
    const int status = std::system(line.c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const std::string said = read_text(path("said"));
    EXPECT_TRUE(code == kSuccess || code == 127 || code == kUserError) << mebibytes << ": " << code << " " << said;
    if (code == kUserError) EXPECT_EQ(said, "error: out of memory\n");
    refused += code != kSuccess;
  }
  EXPECT_GT(refused, 0);
}

TEST_F(CliFilesTest, PipesThatNobodyWritesAreNotWaitedFor) {
  compile_both();
  done("keygen key");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* arguments :
       {"inspect pipe", "header pipe -o net.h", "verify pipe --trust key.pub", "sign pipe --key key.key", "run pipe",
        "train net.ingot --entry train_step --set lr=1 --data pipe --state zeros",
        "run net.ingot predict --input x=1 --state pipe"}) {
    EXPECT_NE(refused(arguments).find("pipe"), std::string::npos) << arguments;
  }
}

TEST_F(CliFilesTest, FullDisksAreNoticed) {
  compile_both();
  for (const char* arguments : {"inspect net.ingot", "inspect net.ingot --json", "opt step.mlir", "manual", "--version",
                                "run net.ingot predict --state zeros --input x=1"}) {
    const std::string line =
        fmt::format("cd {} && {} {} >/dev/full 2>said", folder_.path().string(), INGOT_TOOL, arguments);
    EXPECT_NE(std::system(line.c_str()), 0) << arguments;
    EXPECT_NE(read_text(path("said")).find("No space left"), std::string::npos) << arguments;
  }
}

TEST_F(CliFilesTest, ReportsAreJsonWithAVersion) {
  compile_both();
  const std::string runs[][2] = {
      {"compile", "compile step.mlir -o step.ingot --json"},
      {"inspect", "inspect net.ingot --json"},
      {"run", "run net.ingot predict --state zeros --input x=1 --save-outputs out --json"},
      {"train", "train net.ingot --entry train_step --state zeros --set lr=0.1 --data data.safetensors --json"},
      {"check", "check check.mlir --json"},
      {"bench", "bench net.ingot predict --seconds 0 --json"},
  };
  for (const auto& [command, arguments] : runs) {
    const json report = json::parse(done(arguments));
    EXPECT_EQ(report["report"], command);
    EXPECT_EQ(report["version"], 1);
  }
  const json run = json::parse(done(runs[2][1]));
  EXPECT_EQ(run["outputs"][0]["file"], "out/prediction.npy");
  EXPECT_EQ(run["outputs"][0]["shape"], std::vector<int>{8});
  const json train = json::parse(done(runs[3][1]));
  EXPECT_EQ(train["steps"], 5);
  EXPECT_TRUE(train["last"]["loss"].is_number());
}

TEST_F(CliFilesTest, TheLogMayBeStandardOutput) {
  compile_both();
  const std::string output =
      done("train net.ingot --entry train_step --state zeros --set lr=0.1 --data data.safetensors --log - --steps 2");
  EXPECT_NE(output.find("\"step\":0}\n{"), std::string::npos) << output;
  EXPECT_FALSE(files().contains("-"));
}

TEST_F(CliFilesTest, NothingCheckedIsNoSuccess) {
  std::filesystem::create_directories(path("deep/deeper"));
  EXPECT_NE(refused("check deep").find("nothing was checked"), std::string::npos);
  EXPECT_NE(refused("check step.mlir").find("nothing was checked"), std::string::npos);
  write("deep/deeper/check.mlir", kCheck);
  EXPECT_NE(done("check deep").find("1 passed, 0 failed"), std::string::npos);
}

TEST_F(CliFilesTest, WhatIsNotSupportedIsNoSuccess) {
  write("check.mlir",
        std::string(kCheck) + "// -----\nfunc.func @other() { \"stablehlo.unheard_of\"() : () -> () return }\n");
  EXPECT_NE(refused("check check.mlir").find("1 program is not supported; --allow-unsupported"), std::string::npos);
  EXPECT_NE(done("check check.mlir --allow-unsupported").find("1 passed, 0 failed, 1 unsupported"), std::string::npos);
}

}  // namespace
}  // namespace ingot
