//! Any text as a configuration and as a command line: no panic; mistakes point into the text; and what a value
//! contains changes neither the number of arguments nor the script.
#![no_main]

use jackin_tools::{Context, Placeholder, Provenance, Template, TemplateKind, Tools};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Tools::parse(text) {
        Ok(tools) => {
            for tool in tools.all() {
                assert!(jackin_tools::reserved(tool.key).is_none());
                values_are_alike(&tool.command);
            }
        }
        Err(error) => {
            assert!(!error.mistakes().is_empty());
            for mistake in error.mistakes() {
                // A text that is too large is not looked at.
                assert!(text.len() > Tools::MAX_CONFIG || text.get(mistake.place.span.clone()).is_some());
            }
            assert!(!error.render("config.toml").is_empty());
        }
    }
    for kind in [TemplateKind::Exec, TemplateKind::Prompt, TemplateKind::Handler] {
        match Template::parse(text, kind) {
            Ok(template) => values_are_alike(&template),
            Err(faults) => {
                assert!(!faults.is_empty());
                for fault in faults {
                    assert!(text.get(fault.span.clone()).is_some());
                    assert!(!fault.kind.to_string().is_empty() && !fault.kind.advice().is_empty());
                }
            }
        }
    }
});

fn values_are_alike(template: &Template) {
    let harmless = template.resolve(&context("VALUE")).expect("every value is known");
    let hostile = template.resolve(&context("'\"$(x)`y` \n\\")).expect("every value is known");
    assert_eq!(harmless.args.len(), hostile.args.len());
    assert_eq!(harmless.via_shell, hostile.via_shell);
    if harmless.via_shell {
        assert_eq!(harmless.args, hostile.args);
    }
}

fn context(value: &str) -> Context {
    let mut context = Context::new();
    for placeholder in Placeholder::ALL {
        context.set(placeholder, value, Provenance::Agent).expect("a value without NUL");
    }
    context
}
