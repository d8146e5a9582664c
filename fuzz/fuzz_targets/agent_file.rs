//! Any text as `agent.toml`: no panic; it is a file, or there are mistakes with lines of it; and a file reads as serde reads
//! it.
#![no_main]

use jackin_cli::capsule::read_agent_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let outcome = read_agent_file(text);
    let lines = text.matches('\n').count() + 1;
    match &outcome.result {
        Ok(file) => {
            assert_eq!(file.version, 1);
            assert!(file.workdir.as_ref().is_none_or(|workdir| workdir.starts_with('/')));
            assert!(file.agents.iter().all(|agent| !agent.id.is_empty()));
            assert!(file.initial_agent.iter().all(|id| file.agents.iter().any(|agent| agent.id == *id)));
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            assert!(mistakes.iter().all(|mistake| !mistake.what.is_empty()));
        }
    }
    let told = outcome.result.as_ref().err().into_iter().flatten().chain(&outcome.unknown);
    assert!(told.into_iter().all(|told| (1..=lines).contains(&told.line)));
});
