//! The checked-in protobuf code equals the code that prost generates from `proto/*.proto`.

#![allow(clippy::expect_used)] // clippy.toml allows it in test functions only, not in their helpers

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost_build::{Config, Module};

const REGENERATE: &str = "ORCISH_REGENERATE";

/// Protobuf packages, with the name of the `.proto` file and of the generated file.
const PACKAGES: [(&str, &str); 5] = [
    ("orc.proto", "orc_proto"),
    ("orc.lazy", "orc_lazy"),
    ("orcish.arrow", "orcish_arrow"),
    ("orcish.upload", "orcish_upload"),
    ("orcish.version", "orcish_version"),
];

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn generate() -> HashMap<String, String> {
    let protos = path("../../proto");
    let files = PACKAGES.map(|(_, name)| protos.join(format!("{name}.proto")));
    let set = protox::compile(files, [&protos]).expect("the .proto files compile");
    let mut generated = HashMap::new();
    for (package, name) in PACKAGES {
        let mut config = Config::new();
        config.bytes(["."]);
        if package == "orc.lazy" {
            config.extern_path(".orc.proto", "crate::proto::orc");
        }
        let module_of = Module::from_protobuf_package_name;
        let requests = set.file.iter().map(|file| (module_of(file.package()), file.clone())).collect();
        let mut modules = config.generate(requests).expect("prost generates");
        let code = modules.remove(&module_of(package)).expect("the package has messages");
        generated.insert(format!("{name}.rs"), code);
    }
    generated
}

#[test]
fn checked_in_code_is_up_to_date() {
    for (name, code) in generate() {
        let is_io = ["orcish_upload.rs", "orcish_version.rs"].contains(&name.as_str());
        let folder = if is_io { "../orcish-io/src/proto" } else { "src/proto/generated" };
        let file = path(folder).join(&name);
        if env::var_os(REGENERATE).is_some() {
            fs::write(&file, &code).expect("the generated file can be written");
            continue;
        }
        // Git may convert line endings to CRLF.
        let checked_in = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
        // assert_eq! would print both files.
        assert!(
            checked_in == code,
            "{} is out of date: run `{REGENERATE}=1 cargo test -p orcish --test format codegen`",
            file.display()
        );
    }
}
