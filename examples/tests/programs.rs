//! Runs the examples that need no terminal, and looks at what they print.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Cargo builds the examples of a package with its tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is missing: cargo build -p jackin-examples --examples", path.display());
    path
}

/// What an example prints when it reads `input`.
fn run(name: &str, args: &[&str], input: &str) -> String {
    let mut child = Command::new(example(name))
        .args(args)
        .env_remove("JACKIN_AGENT_SOCKET")
        .env_remove("XDG_RUNTIME_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_board_of_agents() {
    let printed = run(
        "status_board",
        &[],
        "api busy\ndocs busy\napi question\ndocs idle\nold busy\nold idle\nold seen\n",
    );
    assert!(printed.contains("api: question -> blocked\ndocs: idle -> done\n"), "{printed}");
    assert!(printed.ends_with("blocked  api\ndone     docs\nidle     old\nall: blocked\n"), "{printed}");
}

#[test]
fn an_adapter_for_an_unknown_agent() {
    let printed = run("custom_adapter", &[], "");
    let statuses = ["parrot: busy", "parrot: question: Crackers?", "parrot: busy", "parrot: idle"];
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), statuses.len(), "{printed}");
    assert!(lines.iter().zip(statuses).all(|(line, status)| line.starts_with(status)), "{printed}");
}

#[test]
fn an_index_of_tags() {
    let text = "Done: <jackin:pr>https://github.com/o/r/pull/7</jackin:pr>\n---\n`<jackin:pr>https://github.com/o/r/pull/8</jackin:pr>`\n";
    assert_eq!(run("tag_index", &[], text), "pr      https://github.com/o/r/pull/7\n");
}

#[test]
fn a_command_out_of_a_tool() {
    let printed = run("tool_command", &["https://example.com/$(reboot)"], "");
    assert!(printed.contains(r#"["gh", "issue", "view", "https://example.com/$(reboot)"]"#), "{printed}");
    assert!(printed.contains("JACKIN_ISSUE=\"https://example.com/$(reboot)\""), "{printed}");
}

#[test]
fn a_picture_of_a_screen() {
    let svg = run("screen_to_svg", &["20", "2"], "\x1b[1;31mtags: <a> & b\x1b[0m\nplain \x1b[44m \x1b[0m\n");
    assert!(svg.contains("fill=\"#e06c75\" font-weight=\"bold\">tags: &lt;a&gt; &amp; b</text>"), "{svg}");
    assert!(svg.contains(">plain</text>"), "{svg}");
    assert_eq!(svg.matches("<rect").count(), 2, "the screen, and a cell with a background:\n{svg}");
    assert!(svg.ends_with("</svg>\n"));
}

#[test]
fn an_orchestrator_of_two_agents() {
    let printed = run("orchestrator", &[], "");
    for line in [
        "fix-login: question: Push the branch? (hook: asks: Push the branch?)",
        r#"fix-login: would run ["gh", "pr", "view", "https://github.com/acme/shop/pull/7"]"#,
        r#"write-docs: says "docs written""#,
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line:?} is missing in\n{printed}");
    }
    assert_eq!(printed.matches("would run").count(), 1, "a tag in code declares nothing:\n{printed}");
}
