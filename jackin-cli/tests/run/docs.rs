//! The documentation names what a run leaves.

use std::collections::BTreeSet;
use std::path::Path;

use jackin_core::run::{BusMessage, RunContainer, ScriptedAgent, TOKENS};
use jackin_core::{RuntimeEvent, Usage};

use crate::scene::{Scene, files, text};

#[tokio::test]
async fn every_file_key_and_variable_is_documented() {
    let docs = text(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/runs.md"));
    let documents =
        |name: &str| assert!(docs.contains(&format!("`{name}`")), "docs/runs.md does not tell of {name}");
    let scene = Scene::new();
    let agent = ScriptedAgent::new("parrot")
        .with_version("1")
        .says(RuntimeEvent::Usage(Usage { input_tokens: Some(1), cost_usd: Some(1.0), ..Usage::default() }))
        .says_text("<jackin:link>https://example.com/</jackin:link>")
        .ends(1);
    let mut request = scene.request(agent, "x");
    let first = scene.run(ScriptedAgent::new("parrot"), "x").await;
    request.parent = Some(first.info.run_id.clone());
    request.previous = Some(first.info.run_id);
    let (run, _) = scene.run_seen(request).await;

    for file in files(&run.layout).iter().map(String::as_str).chain(["runner.lock", "stop", "TASK.md"]) {
        documents(file);
    }
    let example = docs.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let keys = |yaml: &str| -> BTreeSet<String> {
        let top = yaml.lines().filter(|line| !line.starts_with([' ', '-']));
        top.filter_map(|line| line.split_once(':')).map(|(key, _)| key.to_owned()).collect()
    };
    let shown = keys(example);
    for key in keys(&text(run.layout.info())) {
        assert!(
            shown.contains(&key) || docs.contains(&format!("`{key}`")),
            "docs/runs.md does not tell of {key}"
        );
    }
    serde_saphyr::from_str::<jackin_core::run::RunInfo>(example).expect("the example is a record");
    let container = serde_json::to_value(RunContainer::default()).unwrap();
    for key in container.as_object().unwrap().keys() {
        documents(key);
        assert!(docs.contains(&format!("\n  {key}: ")), "the example of a container has no {key}");
    }
    documents("container");
    let header = docs.split("```\n---\n").nth(1).and_then(|rest| rest.split("---").next()).unwrap();
    serde_saphyr::from_str::<BusMessage>(header).expect("the example is a message");
    for variable in
        ["ID", "PARENT_ID", "PROJECT_ID", "TASK_ID", "RUNS_DIR", "MESSAGE_BUS", "TASK_FOLDER", "RUN_FOLDER"]
    {
        documents(&format!("JRUN_{variable}"));
    }
    for (agent, variable) in TOKENS {
        documents(agent);
        documents(variable);
    }
}
