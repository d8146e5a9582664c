//! Turns a tool of a configuration and what an agent declared into a command, without running it.
//!
//! ```console
//! $ cargo run -p jackin-examples --example tool_command -- 'https://example.com/$(reboot)'
//! ```

use jackin_tools::{Context, Placeholder, Provenance, Tools};

const CONFIG: &str = r#"
[[tool]]
key = "i"
name = "Show the issue"
exec = "gh issue view {issue}"

[[tool]]
key = "l"
name = "Log it"
exec = "echo 'seen: {issue}' >> ~/issues.log"

[[tool]]
key = "p"
name = "This key is the console's"
exec = "sh -c 'curl {issue}'"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A configuration with mistakes gives all of them, each with what to write instead.
    if let Err(error) = Tools::parse(CONFIG) {
        println!("{}\n", error.render("config.toml"));
    }
    let sound = CONFIG.rsplit_once("[[tool]]").map_or(CONFIG, |(sound, _)| sound);
    let tools = Tools::parse(sound)?;

    let issue = std::env::args().nth(1).unwrap_or_else(|| "https://example.com/$(reboot)".to_owned());
    let mut context = Context::of("api-fix".parse()?);
    context.set(Placeholder::Issue, issue, Provenance::Agent)?;
    for tool in tools.visible_to(None) {
        let command = tool.command.resolve(&context)?;
        println!("{}: {:?}", tool.name, command.argv().collect::<Vec<_>>());
        for variable in &command.env {
            println!("    {}={:?}", variable.name, variable.value);
        }
    }
    Ok(())
}
