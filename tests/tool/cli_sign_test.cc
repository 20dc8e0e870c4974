// ingot keygen, sign, verify, and --trust: what a user meets who runs only what someone they trust has signed.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class CliSignTest : public CliTest {
 protected:
  CliSignTest() {
    done("keygen release");
    done("keygen other");
    done("compile step.mlir -o step.ingot");
  }
  const std::string train_ = " --data data.safetensors --set lr=0.1 --state zeros";
};

TEST_F(CliSignTest, ATrustedBundleTrains) {
  EXPECT_NE(done("sign step.ingot --key release.key").find("step.ingot: signed by "), std::string::npos);
  EXPECT_NE(done("verify step.ingot --trust other.pub --trust release.pub").find(", release.pub"), std::string::npos);
  done("train step.ingot --trust release.pub" + train_);
  done("run step.ingot --trust release.pub --state zeros --input batch.x=random --input batch.y=random --input lr=0.1");
  done("bench step.ingot --seconds 0 --trust release.pub");
}

TEST_F(CliSignTest, RefusalsHaveNames) {
  const auto refuses = [&](const std::string& why) {
    for (const std::string& command :
         {std::string("verify step.ingot --trust other.pub"), "train step.ingot --trust other.pub" + train_}) {
      EXPECT_NE(refused(command).find(why), std::string::npos) << command << ": " << refused(command);
    }
  };
  refuses("the bundle has no signature; --trust asks for a signature, which `ingot sign` makes");
  done("sign step.ingot --key release.key");
  refuses("which is no trusted key; if you trust that key, name its file by --trust as well");
  done("sign step.ingot --key other.key");
  done("verify step.ingot --trust other.pub");
  std::string bytes = read_text(path("step.ingot"));
  bytes[bytes.size() / 2] ^= 1;
  write("step.ingot", bytes);
  refuses("the bundle was changed after it was signed; get it anew from whoever signed it");
  write("step.ingot", bytes.substr(0, bytes.size() / 2));
  refuses("the bundle has ");
}

TEST_F(CliSignTest, SigningAgainChangesNothing) {
  const std::string plain = read_text(path("step.ingot"));
  done("sign step.ingot --key release.key -o once.ingot");
  EXPECT_EQ(read_text(path("step.ingot")), plain);
  done("sign once.ingot --key other.key -o both.ingot");
  done("sign both.ingot --key release.key -o again.ingot");
  EXPECT_EQ(fs::file_size(path("again.ingot")), fs::file_size(path("both.ingot")));
  done("verify again.ingot --trust release.pub");
  done("verify again.ingot --trust other.pub");

  done("compile step.mlir -o step.ingot --sign release.key");
  EXPECT_EQ(read_text(path("step.ingot")), read_text(path("once.ingot")));
}

TEST_F(CliSignTest, KeysAreSecretAndNeverOverwritten) {
  struct stat status;
  ASSERT_EQ(stat(path("release.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const std::string key = read_text(path("release.key"));
  EXPECT_TRUE(key.starts_with("Signs bundles of ingot. Keep it secret")) << key;
  EXPECT_NE(refused("keygen release").find("release.key: File exists; no key is overwritten"), std::string::npos);
  EXPECT_EQ(read_text(path("release.key")), key);

  fs::permissions(path("release.key"), fs::perms::group_read, fs::perm_options::add);
  EXPECT_NE(ingot("sign step.ingot --key release.key").errors.find("others may read the private key release.key"),
            std::string::npos);
}

TEST_F(CliSignTest, WrongFilesAreNamed) {
  EXPECT_NE(refused("sign step.ingot --key release.pub").find("release.pub: this is a public key"), std::string::npos);
  EXPECT_NE(refused("verify step.ingot --trust release.key").find("release.key: this is a private key"),
            std::string::npos);
  EXPECT_NE(refused("sign step.mlir --key release.key").find("step.mlir: the first bytes are not those of an ingot"),
            std::string::npos);
  EXPECT_NE(refused("compile step.mlir -o new.ingot --sign nothing.key").find("nothing.key"), std::string::npos);
  EXPECT_FALSE(files().contains("new.ingot"));
}

TEST_F(CliSignTest, InspectTellsWhoSigned) {
  EXPECT_NE(done("inspect step.ingot").find("native code, not signed"), std::string::npos);
  done("sign step.ingot --key release.key");
  const std::string key = read_text(path("release.pub"));
  const std::string name = key.substr(key.find("\n-----END") - 44, 44);
  EXPECT_NE(done("inspect step.ingot").find("  signed by " + name + "\n"), std::string::npos);
  auto report = nlohmann::json::parse(done("inspect step.ingot --json"));
  EXPECT_EQ(report["signatures"], nlohmann::json::parse(R"([{"key": ")" + name + R"(", "good": true}])"));

  std::string bytes = read_text(path("step.ingot"));
  bytes[bytes.size() - 1] ^= 1;
  write("step.ingot", bytes);
  EXPECT_NE(done("inspect step.ingot").find(name + ", but CHANGED SINCE"), std::string::npos);
}

}  // namespace
}  // namespace ingot
