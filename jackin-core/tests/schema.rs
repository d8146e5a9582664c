//! `docs/control.schema.json` and `docs/agent.schema.json` are generated from the types; this fails when they differ.
//! `JACKIN_BLESS=1 cargo test -p jackin-core --test schema` writes them anew.
#![allow(clippy::disallowed_methods, reason = "the test reads and writes a file of the repository")]

use jackin_core::AgentFile;
use jackin_core::protocol::control::{
    Call, Created, Done, Explanation, Overrides, ReadText, Recording, Reply, Resources, ScreenRows, Snapshot,
    Status, StreamItem, Tags, Title, Waited,
};
use schemars::JsonSchema;

/// Everything that travels on a control channel.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct ControlProtocol {
    /// What a client sends.
    call: Call,
    /// The answer to `status`.
    status: Reply<Status>,
    /// The answer to `snapshot`.
    snapshot: Reply<Snapshot>,
    /// The answer to `session.create`, `session.split` and `session.restart`.
    created: Reply<Created>,
    /// The answer to `session.title`.
    title: Reply<Title>,
    /// The answer to `session.read`.
    read: Reply<ReadText>,
    /// The answer to `session.explain`.
    explain: Reply<Explanation>,
    /// The answer to `tags.list`.
    tags: Reply<Tags>,
    /// The answer to `tags.overrides`.
    overrides: Reply<Overrides>,
    /// The answer to `resources`.
    resources: Reply<Resources>,
    /// The answer to `wait`.
    waited: Reply<Waited>,
    /// The answer to `record.start` and `record.stop`.
    recording: Reply<Recording>,
    /// The answer to everything else.
    done: Reply<Done>,
    /// Each element of the stream after `events`.
    event: Reply<StreamItem>,
    /// Each element of the stream after `screen`.
    screen: Reply<ScreenRows>,
}

#[test]
fn the_documented_schemas_are_the_real_ones() {
    compare("control.schema.json", &schemars::schema_for!(ControlProtocol));
    compare("agent.schema.json", &schemars::schema_for!(AgentFile));
}

fn compare(file: &str, schema: &schemars::Schema) {
    let path = format!("{}/../docs/{file}", env!("CARGO_MANIFEST_DIR"));
    let generated = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("JACKIN_BLESS").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let documented = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        documented == generated,
        "docs/{file} is out of date: run JACKIN_BLESS=1 cargo test -p jackin-core --test schema"
    );
}
