use super::*;
use crate::context::Provenance;

fn faults(text: &str) -> Vec<String> {
    Template::parse(text, TemplateKind::Prompt)
        .err()
        .unwrap_or_default()
        .into_iter()
        .map(|fault| fault.kind.to_string())
        .collect()
}

fn full_context() -> Context {
    let mut context = Context::of("api-fix".parse().unwrap());
    for placeholder in Placeholder::ALL {
        if placeholder != Placeholder::Instance {
            context.set(placeholder, format!("<{}>", placeholder.name()), Provenance::Operator).unwrap();
        }
    }
    context
}

/// The arguments, or the script of `sh -c` after `sh:`.
fn resolved(text: &str) -> Vec<String> {
    let template =
        Template::parse(text, TemplateKind::Prompt).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let command = template.resolve(&full_context()).unwrap();
    assert_eq!(command.via_shell, template.needs_shell());
    if command.via_shell {
        assert_eq!((command.program.as_str(), command.args[0].as_str(), command.args.len()), ("sh", "-c", 2));
        return vec![format!("sh: {}", command.args[1])];
    }
    command.argv().map(str::to_owned).collect()
}

#[test]
fn without_shell_syntax_there_is_no_shell() {
    for (text, argv) in [
        ("bun run lint", vec!["bun", "run", "lint"]),
        ("open {issue}", vec!["open", "<issue>"]),
        ("open '{issue}'", vec!["open", "<issue>"]),
        ("open \"a {issue} b\"", vec!["open", "a <issue> b"]),
        ("open --url={issue}{pr}x", vec!["open", "--url=<issue><pr>x"]),
        ("x a\\ b{issue} '' \"\"", vec!["x", "a b<issue>", "", ""]),
        ("echo {{}} {{issue}} {{{issue}}}", vec!["echo", "{}", "{issue}", "{<issue>}"]),
        ("echo a=b '$HOME' \"\\$HOME\" a~b # a comment", vec!["echo", "a=b", "$HOME", "$HOME", "a~b"]),
        ("  cargo   clippy\n", vec!["cargo", "clippy"]),
        ("cargo \\\n  clippy", vec!["cargo", "clippy"]),
        ("docker exec -it {instance} bash", vec!["docker", "exec", "-it", "jackin-api-fix", "bash"]),
        ("{host_workdir}/lint.sh {issue}", vec!["<host_workdir>/lint.sh", "<issue>"]),
        ("sh -c 'open \"$1\"' sh {issue}", vec!["sh", "-c", "open \"$1\"", "sh", "<issue>"]),
        ("\u{e000} {issue} \u{e001}", vec!["\u{e000}", "<issue>", "\u{e001}"]),
    ] {
        assert_eq!(resolved(text), argv, "{text}");
    }
}

#[test]
fn shell_syntax_gets_a_shell_and_quoted_references() {
    for (text, script) in [
        ("echo {input} >> ~/jackin-ops.log", "echo \"${JACKIN_INPUT}\" >> ~/jackin-ops.log"),
        ("a '{pr}' | b", "a ''\"${JACKIN_PR}\"'' | b"),
        ("a \"x {pr} y\"; b", "a \"x ${JACKIN_PR} y\"; b"),
        ("A={pr} b", "A=\"${JACKIN_PR}\" b"),
        ("ls {host_workdir}/*.rs", "ls \"${JACKIN_HOST_WORKDIR}\"/*.rs"),
        ("cd {host_workdir}", "cd \"${JACKIN_HOST_WORKDIR}\""),
        ("a {pr}\nb", "a \"${JACKIN_PR}\"\nb"),
        ("a \"${{HOME}}{pr}\"", "a \"${HOME}${JACKIN_PR}\""),
        ("a $(date) {pr}", "a $(date) \"${JACKIN_PR}\""),
        ("a \"$(date \"+%F %T\")\" {pr}", "a \"$(date \"+%F %T\")\" \"${JACKIN_PR}\""),
        ("a `date` {pr}", "a `date` \"${JACKIN_PR}\""),
        ("a $((1 + (2 * 3))) {pr}", "a $((1 + (2 * 3))) \"${JACKIN_PR}\""),
        ("a \"$$(\" {pr}", "a \"$$(\" \"${JACKIN_PR}\""),
        ("f() {{ a {pr}; }}; f", "f() { a \"${JACKIN_PR}\"; }; f"),
        ("if [ -n {pr} ]; then a; fi", "if [ -n \"${JACKIN_PR}\" ]; then a; fi"),
        ("if A={pr}; then a; fi", "if A=\"${JACKIN_PR}\"; then a; fi"),
        ("export A={pr}; a", "export A=\"${JACKIN_PR}\"; a"),
        ("a {input} > ~/notes/{input}.md", "a \"${JACKIN_INPUT}\" > ~/notes/\"${JACKIN_INPUT}\".md"),
        ("a 2>&1 {pr}", "a 2>&1 \"${JACKIN_PR}\""),
    ] {
        assert_eq!(resolved(text), [format!("sh: {script}")], "{text}");
    }
}

#[test]
fn places_that_cannot_be_safe_are_refused() {
    for (text, place) in [
        ("a $(b {pr})", "inside a command substitution $( )"),
        ("a \"$(b {pr})\"", "inside a command substitution $( )"),
        ("a \"$(b \"{pr}\")\"", "inside a command substitution $( )"),
        ("a $(b '{pr}')", "inside a command substitution $( )"),
        ("a <(b {pr})", "inside a command substitution $( )"),
        ("a `b {pr}`", "inside a command substitution ` `"),
        ("a \"`b {pr}`\"", "inside a command substitution ` `"),
        ("a $((1 + {pr}))", "inside arithmetic"),
        ("a $[1 + {pr}]", "inside arithmetic"),
        ("(( x = {pr} ))", "inside arithmetic"),
        ("declare -i x; x={pr}", "inside arithmetic"),
        ("let x={pr}", "inside arithmetic"),
        ("a ${{b:-{pr}}}", "inside the shell's ${ }"),
        ("a \"${{b:-{pr}}}\"", "inside the shell's ${ }"),
        ("cat <<EOF\n{pr}\nEOF", "after a here-document"),
        ("cat <<< {pr}", "after a here-document"),
        ("cat <<EOF | a {pr}\nEOF", "after a here-document"),
        ("a # {pr}", "in a comment"),
        ("a \\{pr}", "directly after a backslash"),
        ("a \"\\{pr}\"", "directly after a backslash"),
        ("a ${pr}", "directly after a dollar sign"),
        ("a \"${pr}\"", "directly after a dollar sign"),
        ("a [{pr}]", "inside the [ ] of a pattern"),
        ("a[{pr}]=1", "inside the [ ] of a pattern"),
        ("{pr}", "as the program to run"),
        ("{input} x", "as the program to run"),
        ("A=1 {pr}", "as the program to run"),
        ("true && {pr}", "as the program to run"),
        ("if {pr}; then a; fi", "as the program to run"),
        ("sudo {pr}", "as the program to run"),
        ("sudo env A=1 {pr}", "as the program to run"),
        ("exec {pr}", "as the program to run"),
        ("timeout 5 nice -n5 {pr}", "as the program to run"),
        ("sh {pr}", "as the program to run"),
        (". {pr}", "as the program to run"),
        ("a > {pr}", "as the file of a redirection"),
        ("a < '{repo}/x'", "as the file of a redirection"),
        ("a 2>&1{input}", "as the file of a redirection"),
        ("a $'x' {pr}", "after $'…'"),
        ("a $(case x in y) b;; esac) {pr}", "after `case` in $( )"),
        ("a $(b # )\n) {pr}", "after a comment in $( )"),
        ("a `b '` {pr}", "after quotes or comments in ` `"),
        ("a ${{b:-'}} {pr}", "after quotes in ${ }"),
    ] {
        let found = faults(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].contains(&format!("is not safe {place}")), "{text}: {found:?}");
    }
}

#[test]
fn what_another_program_takes_for_code_is_refused() {
    for (text, program) in [
        ("sh -c 'a {pr}'", "sh"),
        ("sh -c \"a '{pr}'\"", "sh"),
        ("sh -c {pr}", "sh"),
        ("/bin/bash -lc 'a {pr}'", "bash"),
        ("bash -c -o pipefail 'a {pr}'", "bash"),
        ("bash -o pipefail -ec 'a {pr}'", "bash"),
        ("zsh -c\"{pr}\"", "zsh"),
        ("sudo sh -c 'a {pr}'", "sh"),
        ("docker exec {instance} sh -c 'a {pr}'", "sh"),
        ("find . -exec sh -c 'a {pr}' ';'", "sh"),
        ("a | xargs sh -c 'a {pr}'", "sh"),
        ("$SHELL -c 'a {pr}'", "the program"),
        ("true; \"sh\" '-c' 'a {pr}'", "sh"),
        ("eval 'a {pr}'", "eval"),
        ("eval {pr}", "eval"),
        ("command eval {pr}", "eval"),
        ("trap 'a {pr}' EXIT", "trap"),
        ("ssh box 'a {pr}'", "ssh"),
        ("ssh box open {pr}", "ssh"),
        ("sshpass -f x ssh box open {pr}", "ssh"),
        ("su -c 'a {pr}' me", "su"),
        ("watch a {pr}", "watch"),
        ("tmux new-window 'a {pr}'", "tmux"),
        ("a | parallel b {pr}", "parallel"),
        ("make X={pr}", "make"),
        ("python3 -c 'print(\"{pr}\")'", "python3"),
        ("perl -ne 'print \"{pr}\"'", "perl"),
        ("node --eval='x({pr})'", "node"),
        ("osascript -e 'display \"{pr}\"'", "osascript"),
        ("awk '/{pr}/'", "awk"),
        ("awk -F : '/{pr}/' x", "awk"),
        ("sed 's/x/{pr}/' y", "sed"),
        ("sed -n -e 's/x/{pr}/' y", "sed"),
        ("[[ {pr} -eq 1 ]]", "[["),
        ("[ -v {pr} ]", "["),
        ("export {pr}=1", "export"),
        ("read {pr}", "read"),
        ("env -S 'a {pr}'", "env"),
        ("xterm -e 'a {pr}'", "xterm"),
        ("vim -c 'e {pr}'", "vim"),
        ("vim +'e {pr}'", "vim"),
    ] {
        let found = faults(text);
        assert_eq!(found, [format!("{{pr}} is not safe in what {program} takes for code")], "{text}");
    }
    for text in ["echo {pr} | sh", "echo {pr} | grep x | bash -s", "echo {pr} | (sh)", "a {pr} |& bash"] {
        assert!(faults(text)[0].contains("piped into"), "{text}: {:?}", faults(text));
    }
}

#[test]
fn arguments_beside_code_are_allowed() {
    for text in [
        "sh -c 'a \"$1\"' sh {pr}",
        "bash -lc 'a \"$JACKIN_PR\"'",
        "sh {host_workdir}/check.sh {pr}",
        "awk -v url={pr} '{{print url}}' file",
        "awk '{{print}}' {host_workdir}/x",
        "sed 's/a/b/' {host_workdir}/x",
        "python3 tool.py {pr}",
        "make -C {host_workdir} test",
        "printf '%s\\n' {pr}",
        "[ -n {pr} ]",
        "notify-send ssh {pr}",
        "echo {pr} || sh",
        "echo {pr} | tee log",
        "git commit -m 'see {pr}'",
        "grep -c bash {host_workdir}/x",
        "timeout {input} sleep 9",
        "xterm -e less {host_workdir}/x",
    ] {
        assert_eq!(faults(text), [""; 0], "{text}");
    }
}

#[test]
fn braces_and_quotes_that_do_not_match() {
    for (text, fault) in [
        ("a {isue}", "unknown placeholder {isue}"),
        ("a {}", "unknown placeholder {}"),
        ("a {Issue}", "unknown placeholder {Issue}"),
        ("a ${HOME}", "unknown placeholder {HOME}"),
        ("a {", "{ opens no placeholder"),
        ("a {x{issue}", "{ opens no placeholder"),
        ("awk '{print $1}'", "{ opens no placeholder"),
        ("a }", "} closes no placeholder"),
        ("a '{issue}", "' is not closed"),
        ("a \"b", "\" is not closed"),
        ("a `b", "` is not closed"),
        ("a $(b", "$( is not closed"),
        ("a \"$(b 'c\"", "' is not closed"),
        ("", "the command is empty"),
        (" \n\t", "the command is empty"),
        ("# nothing", "the command is empty"),
        ("'' a", "the command is empty"),
        ("a \0", "the command contains a NUL character"),
    ] {
        let found = faults(text);
        assert!(found.iter().any(|found| found == fault), "{text}: {found:?}");
    }
    assert_eq!(faults(&"x".repeat(Template::MAX_LEN + 1)).len(), 1);
}

#[test]
fn all_faults_are_reported_in_order() {
    assert_eq!(
        faults("a {isue} $(b {pr}) {prr}"),
        [
            "unknown placeholder {isue}",
            "{pr} is not safe inside a command substitution $( )",
            "unknown placeholder {prr}",
        ]
    );
}

#[test]
fn each_kind_has_its_placeholders() {
    for (text, kind, fine) in [
        ("a {input}", TemplateKind::Prompt, true),
        ("a {input}", TemplateKind::Exec, false),
        ("a {input}", TemplateKind::Handler, false),
        ("a \"$JACKIN_INPUT\"", TemplateKind::Exec, false),
        ("a {}", TemplateKind::Handler, true),
        ("a {}", TemplateKind::Exec, false),
        ("a {issue}", TemplateKind::Handler, true),
    ] {
        assert_eq!(Template::parse(text, kind).is_ok(), fine, "{text} {kind:?}");
    }
}

#[test]
fn a_missing_value_is_never_an_empty_one() {
    let context = Context::of("api-fix".parse().unwrap());
    for (text, message) in [
        ("a {issue}", "no <jackin:issue> recorded for instance api-fix"),
        ("a \"$JACKIN_ISSUE\"", "no <jackin:issue> recorded for instance api-fix"),
        ("sh -c 'a \"${{JACKIN_ISSUE}}\"'", "no <jackin:issue> recorded for instance api-fix"),
        (
            "a {pr} {workspace}",
            "no workspace is known for instance api-fix\nno <jackin:pr> recorded for instance api-fix",
        ),
        ("a {input}", "the prompt was not answered: {input} has no value"),
    ] {
        let template = Template::parse(text, TemplateKind::Prompt).unwrap();
        assert_eq!(template.resolve(&context).unwrap_err().to_string(), message, "{text}");
    }
    for text in ["a \"${{JACKIN_ISSUE:-none}}\"", "a $JACKIN_ISSUES", "a {instance}"] {
        assert!(Template::parse(text, TemplateKind::Prompt).unwrap().resolve(&context).is_ok(), "{text}");
    }
    let template = Template::parse("a {issue} {instance}", TemplateKind::Exec).unwrap();
    assert_eq!(
        template.resolve(&Context::new()).unwrap_err().to_string(),
        "no instance is chosen: {instance} has no value\nno <jackin:issue> recorded and no instance is chosen"
    );
}

#[test]
fn the_environment_has_every_known_value() {
    let command = Template::parse("a", TemplateKind::Exec).unwrap().resolve(&full_context()).unwrap();
    let names: Vec<_> = command.env.iter().map(|variable| variable.name).collect();
    assert_eq!(names, Placeholder::ALL.map(Placeholder::variable));
    assert_eq!(command.cwd.as_deref(), Some(std::path::Path::new("<host_workdir>")));
    let command = Template::parse("a", TemplateKind::Exec).unwrap().resolve(&Context::new()).unwrap();
    assert!(command.env.is_empty() && command.cwd.is_none());
}
