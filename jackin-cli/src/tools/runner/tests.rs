use super::*;

use std::sync::Arc;

use jackin_tools::EnvVar;

fn script(text: &str) -> ResolvedCommand {
    ResolvedCommand {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), text.to_owned()],
        env: Vec::new(),
        cwd: None,
        via_shell: true,
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn finish(command: &ResolvedCommand, limits: Limits) -> Finished {
    run(async { Running::start(command, limits).unwrap().finish().await })
}

#[test]
fn both_streams_in_the_order_of_writing() {
    let finished = finish(&script("echo a; echo b >&2; echo c; printf d >&2; exit 3"), Limits::default());
    assert_eq!(finished.end, End::Exited(3));
    assert_eq!(finished.output.text(), "a\nb\nc\nd");
    assert_eq!(finished.end.exit_code(), 3);
}

#[test]
fn lines_come_while_it_runs() {
    // It goes on only when it sees the file that is made after its first line.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("go");
    let command =
        script(&format!("echo first; while [ ! -e {} ]; do sleep 0.01; done; printf last", file.display()));
    run(async {
        let mut running = Running::start(&command, Limits::default()).unwrap();
        assert_eq!(running.next_line().await.unwrap(), "first");
        std::fs::write(&file, "").unwrap();
        assert_eq!(running.next_line().await.unwrap(), "last");
        assert_eq!(running.next_line().await, None);
        assert_eq!(running.finish().await.output.text(), "first\nlast");
    });
}

#[test]
fn many_lines_arrive_whole_and_in_order() {
    let command = script("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i + 1)); done");
    run(async {
        let mut running = Running::start(&command, Limits::default()).unwrap();
        let mut expected = 0;
        while let Some(line) = running.next_line().await {
            assert_eq!(line, expected.to_string());
            expected += 1;
        }
        assert_eq!(expected, 20_000);
        assert_eq!(running.finish().await.end, End::Exited(0));
    });
}

#[test]
fn environment_and_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = script("pwd; echo \"$JACKIN_ISSUE\"; cat");
    command.cwd = Some(dir.path().canonicalize().unwrap());
    command.env.push(EnvVar { name: "JACKIN_ISSUE", value: Arc::from("a  'b'\nc") });
    let finished = finish(&command, Limits::default());
    let expected = format!("{}\na  'b'\nc\n", dir.path().canonicalize().unwrap().display());
    assert_eq!(finished.output.text(), expected, "and standard input is empty");
}

#[test]
fn what_cannot_be_started() {
    run(async {
        let mut command = script("true");
        command.cwd = Some("/nowhere/at/all".into());
        let error = Running::start(&command, Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), "the working directory /nowhere/at/all does not exist");
        let mut command = script("true");
        command.program = "no-such-program-anywhere".to_owned();
        assert!(matches!(Running::start(&command, Limits::default()), Err(RunError::NoProgram(_))));
        command.program = "/".to_owned();
        assert!(matches!(Running::start(&command, Limits::default()), Err(RunError::Start { .. })));
    });
    assert!(on_path("sh") && on_path("/bin/sh") && !on_path("no-such-program-anywhere") && !on_path("/"));
}

#[test]
fn its_time_is_kept_even_if_nobody_takes_its_lines() {
    run(async {
        let limits = Limits { timeout: Duration::from_millis(50), ..Limits::default() };
        let running = Running::start(&script("yes"), limits).unwrap();
        // Neither `next_line` nor `finish`: only the runtime turns.
        let watcher = &running.watcher;
        while !watcher.is_finished() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let finished = running.finish().await;
        assert_eq!(finished.end, End::TimedOut);
        assert_eq!(finished.end.exit_code(), 124);
    });
}

/// The processes whose command line has this mark.
fn marked(mark: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(mark))
        .collect()
}

#[test]
fn one_that_defies_its_end_is_ended_with_all_its_children() {
    // It ignores TERM, as do its children, which fork again and flood both streams.
    let mark = format!("defiant-{}", std::process::id());
    let flood = "trap '' TERM HUP INT; (while :; do echo x; echo y >&2; done) & (yes flood >&2) & \
                 sh -c 'trap \"\" TERM; while :; do sleep 1; done' & while :; do echo z; done";
    let command = script(&format!(": {mark}; {flood}"));
    let limits = Limits { grace: Duration::from_millis(100), output: 64 << 10, ..Limits::default() };
    let finished = run(async {
        let mut running = Running::start(&command, limits).unwrap();
        // Once more was printed than is kept, all of it is up and defiant.
        for _ in 0..limits.output {
            running.next_line().await.unwrap();
        }
        running.stop();
        running.finish().await
    });
    assert_eq!(finished.end, End::Stopped);
    assert!(finished.output.bytes.len() <= limits.output, "{}", finished.output.bytes.len());
    assert!(finished.output.cut > 0, "it flooded");
    assert!(finished.output.text().contains("bytes were cut out here"));
    assert_eq!(marked(&mark), [""; 0], "nothing is left");
}

#[test]
fn one_that_heeds_its_end_may_clean_up() {
    let command = script("trap 'echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.01; done");
    let finished = run(async {
        let limits = Limits { grace: Duration::from_secs(60), ..Limits::default() };
        let mut running = Running::start(&command, limits).unwrap();
        assert_eq!(running.next_line().await.unwrap(), "up");
        running.stop();
        running.finish().await
    });
    assert_eq!(finished.end, End::Stopped);
    // The shell may tell of its `sleep`, too.
    assert!(finished.output.text().ends_with("cleaned\n"), "{}", finished.output.text());
}

#[test]
fn stopped_on_request_and_when_dropped() {
    let mark = format!("dropped-{}", std::process::id());
    let command = script(&format!(": {mark}; echo up; while :; do sleep 0.01; done"));
    run(async {
        let mut running = Running::start(&command, Limits::default()).unwrap();
        assert_eq!(running.next_line().await.unwrap(), "up");
        running.stop();
        assert_eq!(running.finish().await.end, End::Stopped);
        let mut running = Running::start(&command, Limits::default()).unwrap();
        assert_eq!(running.next_line().await.unwrap(), "up");
        drop(running);
        while !marked(&mark).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // And when the runtime goes before the watcher could do anything.
        let mut running = Running::start(&command, Limits::default()).unwrap();
        assert_eq!(running.next_line().await.unwrap(), "up");
        std::mem::forget(running);
    });
    while !marked(&mark).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_it_leaves_in_the_background_lives_and_does_not_hold_it_up() {
    let dir = tempfile::tempdir().unwrap();
    let (file, go) = (dir.path().join("done"), dir.path().join("go"));
    let command = script(&format!(
        "(while [ ! -e {} ]; do sleep 0.01; done; echo later; echo > {}) & echo now",
        go.display(),
        file.display()
    ));
    run(async {
        let finished = Running::start(&command, Limits::default()).unwrap().finish().await;
        assert_eq!((finished.end, finished.output.text().as_str()), (End::Exited(0), "now\n"));
        std::fs::write(&go, "").unwrap();
        while !file.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn a_foreign_signal_is_told() {
    let finished = finish(&script("kill -9 $$"), Limits::default());
    assert_eq!((finished.end, finished.end.exit_code()), (End::Signaled(9), 137));
}
