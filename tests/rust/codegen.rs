//! The checked-in protobuf code equals the code that prost generates from `proto/*.proto`, and the table of the fields of the
//! messages of ORC.

#![allow(clippy::expect_used)] // clippy.toml allows it in test functions only, not in their helpers

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost_build::{Config, Module};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet};

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
        if package.starts_with("orc.") {
            config.enable_type_names();
        }
        if package == "orc.lazy" {
            config.extern_path(".orc.proto", "crate::proto::orc");
        }
        let module_of = Module::from_protobuf_package_name;
        let requests = set.file.iter().map(|file| (module_of(file.package()), file.clone())).collect();
        let mut modules = config.generate(requests).expect("prost generates");
        let code = modules.remove(&module_of(package)).expect("the package has messages");
        generated.insert(format!("{name}.rs"), code);
    }
    generated.insert("fields.rs".to_owned(), fields(&set));
    generated
}

/// The code of the table of the fields of all messages in the packages `orc.*`.
fn fields(set: &FileDescriptorSet) -> String {
    let (mut messages, mut enumerations) = (Vec::new(), HashMap::new());
    for file in set.file.iter().filter(|file| file.package().starts_with("orc.")) {
        add_types(file.package(), &file.message_type, &file.enum_type, &mut messages, &mut enumerations);
    }
    let mut code = String::from("/// The fields of the messages, by the name of the message and by their tags.\n");
    code += "pub(super) static MESSAGES: &[(&str, &[(u32, Form)])] = &[\n";
    for (name, message) in messages {
        let field = |field: &FieldDescriptorProto| format!("({}, {})", field.number(), form(field, &enumerations));
        let fields: Vec<_> = message.field.iter().map(field).collect();
        code += &format!("    (\"{name}\", &[{}]),\n", fields.join(", "));
    }
    code + "];\n"
}

fn add_types<'a>(
    scope: &str,
    messages: &'a [DescriptorProto],
    enums: &'a [EnumDescriptorProto],
    all: &mut Vec<(String, &'a DescriptorProto)>,
    enumerations: &mut HashMap<String, Vec<i32>>,
) {
    for each in enums {
        let numbers = each.value.iter().map(|value| value.number()).collect();
        enumerations.insert(format!(".{scope}.{}", each.name()), numbers);
    }
    for message in messages {
        let name = format!("{scope}.{}", message.name());
        add_types(&name, &message.nested_type, &message.enum_type, all, enumerations);
        all.push((name, message));
    }
}

/// The code of the form of a field.
fn form(field: &FieldDescriptorProto, enumerations: &HashMap<String, Vec<i32>>) -> String {
    let is_repeated = field.label() == Label::Repeated;
    match field.r#type() {
        Type::Message => format!("Message(\"{}\")", field.type_name().trim_start_matches('.')),
        Type::Enum if !is_repeated => format!("Enumeration(&{:?})", enumerations[field.type_name()]),
        Type::String | Type::Bytes => "Bytes".to_owned(),
        Type::Double | Type::Fixed64 if is_repeated => "Fixed64s".to_owned(),
        Type::Double | Type::Fixed64 => "Fixed64".to_owned(),
        Type::Int32 | Type::Uint32 | Type::Int64 | Type::Uint64 | Type::Sint32 | Type::Sint64 | Type::Bool => {
            if is_repeated {
                "Varints".to_owned()
            } else {
                "Varint".to_owned()
            }
        }
        other => panic!("no form for {other:?}"),
    }
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
