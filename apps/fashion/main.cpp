// Trains on Fashion-MNIST with a compiled step: that of model.cpp, or of vit.py. Links the engine and zlib: no
// compiler, no framework.
//
//   fashion [--bundle fashion.ingot] [--epochs 3] [--lr 1.5e-3] [--threads 2] [--data FOLDER]
//           [--state fashion.safetensors] [--resume]
//
// The bundle has the entry points train_step(images, labels, lr) -> loss and predict(images) -> output, and starts by
// init(seed) or from a state of its own.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <ingot/engine.hpp>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>

namespace {

constexpr size_t kBatch = 64;
constexpr size_t kPixels = 28 * 28;
constexpr const char* kClasses[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                    "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};

struct Options {
  std::string bundle;
  int epochs = 3;
  double lr = 1.5e-3;  // at first; it falls to zero along half a cosine
  uint32_t threads = 2;
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string state = "fashion.safetensors";
  bool resume = false;
};

struct Images {
  std::vector<float> pixels;  // [count, 28, 28], normalised
  std::vector<int32_t> labels;
  size_t count() const { return labels.size(); }
};

// A gzipped IDX file's bytes after its header.
std::vector<uint8_t> read_idx(const std::string& path, size_t header_bytes) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file)
    throw std::runtime_error(path + ": cannot be opened; install the package dataset-fashion-mnist, or give --data");
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> chunk(1 << 20);
  int got = 0;
  while ((got = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) {
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + got);
  }
  gzclose(file);
  if (got < 0 || bytes.size() < header_bytes) throw std::runtime_error(path + ": is damaged");
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes));
  return bytes;
}

Images read_images(const std::string& folder, const std::string& part) {
  Images images;
  for (uint8_t pixel : read_idx(folder + "/" + part + "-images-idx3-ubyte.gz", 16)) {
    images.pixels.push_back((static_cast<float>(pixel) / 255.0f - 0.286f) /
                            0.353f);  // the training set's mean, deviation
  }
  for (uint8_t label : read_idx(folder + "/" + part + "-labels-idx1-ubyte.gz", 8)) images.labels.push_back(label);
  if (images.pixels.size() != images.count() * kPixels)
    throw std::runtime_error(part + ": images and labels do not match");
  return images;
}

void copy_image(const Images& from, size_t index, std::span<float> batch, size_t row) {
  std::memcpy(batch.data() + row * kPixels, from.pixels.data() + index * kPixels, kPixels * sizeof(float));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A fraction of the images that `predict` gets right; a last, partial batch is left out.
double accuracy(ingot::engine::Session& session, const Images& images) {
  const auto predict = session.entry("predict");
  const std::span<float> batch = predict.input<float>("images");
  const auto classes = predict.output<int32_t>("output");
  size_t right = 0;
  size_t seen = 0;
  for (; seen + kBatch <= images.count(); seen += kBatch) {
    for (size_t i = 0; i < kBatch; ++i) copy_image(images, seen + i, batch, i);
    predict.run();
    for (size_t i = 0; i < kBatch; ++i) right += classes[i] == images.labels[seen + i];
  }
  return static_cast<double>(right) / static_cast<double>(seen);
}

// Sets the learning rate, which is f32 in one bundle and f64 in another.
std::function<void(double)> lr_setter(const ingot::engine::Bundle& bundle, const ingot::engine::Entry& step) {
  if (bundle.input(step.index(), bundle.find_input(step.index(), "lr")).dtype == INGOT_F64) {
    return [lr = step.input<double>("lr")](double value) { lr[0] = value; };
  }
  return [lr = step.input<float>("lr")](double value) { lr[0] = static_cast<float>(value); };
}

void start_state(const ingot::engine::Bundle& bundle, ingot::engine::Session& session, const Options& options) {
  uint32_t init = 0;
  if (options.resume) {
    session.load(options.state);
  } else if (ingot_find_entry(bundle.get(), "init", &init, nullptr) == INGOT_OK) {
    session.entry("init").input<int64_t>("seed")[0] = 1;
    session.entry("init").run();
  }
}

constexpr const char* kUsage =
    "usage: fashion [--bundle fashion.ingot] [--epochs 3] [--lr 1.5e-3] [--threads 2] [--data FOLDER] "
    "[--state fashion.safetensors] [--resume]";

// A number above zero.
double parse_number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0) || value > 1e9) {
    throw std::runtime_error(option + " " + text + ": is not a number above zero");
  }
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  options.bundle = (std::filesystem::path(argv[0]).parent_path() / "fashion.ingot").string();
  using Set = std::function<void(const std::string& option, const std::string& text)>;
  const auto text_of = [](std::string& value) -> Set { return [&](const auto&, const auto& text) { value = text; }; };
  const auto number_of = [](auto& value) -> Set {
    return [&](const auto& option, const auto& text) {
      value = static_cast<std::remove_reference_t<decltype(value)>>(parse_number(option, text));
    };
  };
  const std::map<std::string, Set> settings = {
      {"--bundle", text_of(options.bundle)},     {"--data", text_of(options.data)},
      {"--state", text_of(options.state)},       {"--epochs", number_of(options.epochs)},
      {"--threads", number_of(options.threads)}, {"--lr", number_of(options.lr)},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto setting = settings.find(option);
    if (option == "--help") {
      std::puts(kUsage);
      std::exit(0);
    } else if (option == "--resume") {
      options.resume = true;
    } else if (setting != settings.end() && i + 1 < argc) {
      setting->second(option, argv[++i]);
    } else {
      throw std::runtime_error(option + ": is no option, or lacks its value\n" + kUsage);
    }
  }
  return options;
}

void train(const Options& options) {
  const Images training = read_images(options.data, "train");
  const Images test = read_images(options.data, "t10k");
  const ingot::engine::Bundle bundle(options.bundle);
  ingot::engine::Session session(bundle, options.threads);
  start_state(bundle, session, options);

  const auto step = session.entry("train_step");
  const std::span<float> images = step.input<float>("images");
  const std::span<int32_t> labels = step.input<int32_t>("labels");
  const auto set_lr = lr_setter(bundle, step);
  const auto loss = step.output<float>("loss");
  std::vector<size_t> order(training.count());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t steps_per_epoch = training.count() / kBatch;
  const size_t steps = steps_per_epoch * static_cast<size_t>(options.epochs);
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const auto start = std::chrono::steady_clock::now();
  double step_seconds = 0;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    std::mt19937 random(static_cast<unsigned>(epoch) + 1);
    std::shuffle(order.begin(), order.end(), random);
    double loss_sum = 0;
    for (size_t i = 0; i < steps_per_epoch; ++i) {
      for (size_t row = 0; row < kBatch; ++row) {
        copy_image(training, order[i * kBatch + row], images, row);
        labels[row] = training.labels[order[i * kBatch + row]];
      }
      const double done =
          static_cast<double>(static_cast<size_t>(epoch) * steps_per_epoch + i) / static_cast<double>(steps);
      set_lr(options.lr * 0.5 * (1 + std::cos(done * M_PI)));
      const auto before = std::chrono::steady_clock::now();
      step.run();
      step_seconds += seconds_since(before);
      loss_sum += loss[0];
      // A terminal sees the line grow; a file has each epoch once.
      if (i + 1 == steps_per_epoch || (i % 20 == 0 && is_terminal)) {
        std::printf("%sepoch %d/%d  step %4zu/%zu  loss %.4f  %.0f s ", is_terminal ? "\r" : "", epoch + 1,
                    options.epochs, i + 1, steps_per_epoch, loss_sum / static_cast<double>(i + 1),
                    seconds_since(start));
        std::fflush(stdout);
      }
    }
    session.save(options.state);
    std::printf(" test accuracy %.2f %%\n", 100 * accuracy(session, test));
  }

  const auto predict = session.entry("predict");
  std::printf("\nfirst test images:");
  for (size_t i = 0; i < 5; ++i) copy_image(test, i, predict.input<float>("images"), i);
  predict.run();
  for (size_t i = 0; i < 5; ++i) std::printf(" %s;", kClasses[predict.output<int32_t>("output")[i]]);
  const auto info = bundle.info();
  std::printf("\n\nwhat was made\n  bundle     %s, %zu bytes, of which code for %s %zu\n", options.bundle.c_str(),
              static_cast<size_t>(std::filesystem::file_size(options.bundle)), info.target,
              static_cast<size_t>(info.code_bytes));
  std::printf("  memory     arena %zu bytes, state %zu bytes; nothing is allocated while it runs\n",
              static_cast<size_t>(bundle.needs().arena_bytes), static_cast<size_t>(bundle.needs().state_bytes));
  std::printf("  speed      %.0f training steps of %zu images a second\n", static_cast<double>(steps) / step_seconds,
              kBatch);
  std::printf("  state      %s: parameters and optimizer, readable by PyTorch (safetensors)\n", options.state.c_str());
}

void suggest(const Options& options, const std::string& apps) {
  const char *bundle = options.bundle.c_str(), *bin = apps.c_str();
  std::printf(
      "\nthree things to try next\n  %s/fashion/fashion --bundle %s --state %s --resume --epochs 1\n"
      "  %s/ingot/ingot inspect %s\n  %s/ingot/ingot bench %s train_step --threads 2\n",
      bin, bundle, options.state.c_str(), bin, bundle, bin, bundle);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    train(options);
    suggest(options, std::filesystem::path(argv[0]).parent_path().parent_path().string());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion: %s\n", error.what());
    return 1;
  }
}
