use std::io;

use rustix::io::Errno;

/// What a shell ends with when there is no such program, and when it is there but is none.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// A program that could not be started. Whoever was to run it ends with the code that a shell would end with.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Unstarted {
    message: String,
    pub(super) exit_code: u8,
}

impl Unstarted {
    pub(super) fn new(program: &str, error: &io::Error) -> Self {
        let is_none = error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error());
        let exit_code = match error.kind() {
            io::ErrorKind::NotFound => NOT_FOUND,
            io::ErrorKind::PermissionDenied => NOT_EXECUTABLE,
            _ if is_none => NOT_EXECUTABLE,
            // Too many processes, too little memory: nothing that the program could help.
            _ => 1,
        };
        Self { message: format!("cannot start {program}: {error}"), exit_code }
    }

    /// A capsule that ended before it answered, and what it ended with.
    pub(super) fn capsule(why: &str, exit_code: Option<i32>) -> Self {
        let exit_code = exit_code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code > 0);
        Self { message: format!("the capsule did not start: {why}"), exit_code: exit_code.unwrap_or(1) }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_codes_are_those_of_a_shell() {
        let code =
            |program: &str| Unstarted::new(program, &Command::new(program).spawn().unwrap_err()).exit_code;
        assert_eq!((code("/no/such/program"), code("/etc/passwd"), code("/")), (127, 126, 126));
        assert_eq!(Unstarted::new("x", &Errno::NOEXEC.into()).exit_code, 126);
        assert_eq!(Unstarted::new("x", &Errno::AGAIN.into()).exit_code, 1);
        let capsule = |code| Unstarted::capsule("why", code).exit_code;
        assert_eq!((capsule(Some(127)), capsule(Some(0)), capsule(None)), (127, 1, 1));
    }
}
