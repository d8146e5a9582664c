use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use tracing::Level;
use tracing_subscriber::filter::LevelFilter;

/// What is logged where nothing is asked for: what an operator should know of.
const USUAL: LevelFilter = LevelFilter::WARN;

/// Whether every frame is to be logged: `JACKIN_DEBUG=1`.
pub(super) fn is_debugging() -> bool {
    std::env::var_os("JACKIN_DEBUG").is_some_and(|value| value == "1")
}

/// Begins to log: with `JACKIN_LOG` (error, warn, info, debug, trace) or `JACKIN_DEBUG=1`, which asks for debug at least, to
/// a file beside the socket, otherwise warnings to standard error. Values of an environment and what an operator types are
/// never logged.
pub(super) fn begin(socket: &Path) {
    let wanted = std::env::var("JACKIN_LOG").ok().filter(|level| !level.is_empty());
    let level = match wanted.as_deref().map(str::parse::<Level>) {
        Some(Ok(level)) => LevelFilter::from_level(level),
        _ => USUAL,
    };
    let level = if is_debugging() { level.max(LevelFilter::DEBUG) } else { level };
    let file = (wanted.is_some() || is_debugging())
        .then(|| OpenOptions::new().create(true).append(true).mode(0o600).open(socket.with_extension("log")));
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        // A log that cannot be written is done without; complaining about it where it goes would end us.
        .log_internal_errors(false);
    // Whoever embeds the daemon may log already.
    let _ = match file {
        Some(Ok(file)) => {
            tracing::subscriber::set_global_default(subscriber.with_writer(Mutex::new(file)).finish())
        }
        _ => tracing::subscriber::set_global_default(
            subscriber.without_time().with_writer(std::io::stderr).finish(),
        ),
    };
}
