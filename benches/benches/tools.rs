//! Resolving a tool's command, beside concatenating the same pieces by hand.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use jackin_tools::{Context, Placeholder, Provenance, Template, TemplateKind};

const ISSUE: &str = "https://github.com/acme/api/issues/4711";
const WORKDIR: &str = "/home/operator/worktrees/api-fix";

fn context() -> Context {
    let mut context = Context::of("api-fix".parse().expect("a good name"));
    for (placeholder, value) in [(Placeholder::Issue, ISSUE), (Placeholder::HostWorkdir, WORKDIR)] {
        context.set(placeholder, value, Provenance::Agent).expect("a good value");
    }
    context
}

fn parse(text: &str) -> Template {
    Template::parse(text, TemplateKind::Exec).expect("a good template")
}

fn resolve(c: &mut Criterion) {
    let context = context();
    let by_words = parse(
        "gh issue comment {issue} --body 'worked on in {host_workdir}' --editor=no --label a --label b",
    );
    let by_shell =
        parse("gh issue view {issue} --comments | tee -a ~/issues.log && notify-send 'seen: {issue}'");

    let mut group = c.benchmark_group("tool_words");
    group.bench_function("resolve", |b| b.iter(|| black_box(&by_words).resolve(black_box(&context))));
    group.bench_function("by_hand", |b| {
        b.iter(|| {
            let (issue, workdir) = (black_box(ISSUE), black_box(WORKDIR));
            let program = "gh".to_owned();
            let args = vec![
                "issue".to_owned(),
                "comment".to_owned(),
                issue.to_owned(),
                "--body".to_owned(),
                ["worked on in ", workdir].concat(),
                "--editor=no".to_owned(),
                "--label".to_owned(),
                "a".to_owned(),
                "--label".to_owned(),
                "b".to_owned(),
            ];
            (program, args)
        });
    });
    group.finish();

    let mut group = c.benchmark_group("tool_shell");
    group.bench_function("resolve", |b| b.iter(|| black_box(&by_shell).resolve(black_box(&context))));
    // What would be done without variables, were it safe.
    group.bench_function("by_hand", |b| {
        b.iter(|| {
            let issue = black_box(ISSUE);
            let script = [
                "gh issue view '",
                issue,
                "' --comments | tee -a ~/issues.log && notify-send 'seen: ",
                issue,
                "'",
            ];
            ("sh".to_owned(), vec!["-c".to_owned(), script.concat()])
        });
    });
    group.finish();

    c.bench_function("tool_parse", |b| {
        b.iter(|| {
            parse(black_box(
                "gh issue view {issue} --comments | tee -a ~/issues.log && notify-send '{issue}'",
            ))
        });
    });
}

criterion_group!(benches, resolve);
criterion_main!(benches);
