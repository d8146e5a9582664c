use jackin_core::RuntimeEvent;

use super::claude_stream::{ClaudeStream, Dialect};
use super::{BrokenLine, Decoder};

/// Decodes `amp -x --stream-json`: Claude Code's shapes, with the prompt echoed and tokens told per message.
#[derive(Debug)]
pub struct AmpStream(ClaudeStream);

impl Default for AmpStream {
    fn default() -> Self {
        Self(ClaudeStream::with_dialect(Dialect::Amp))
    }
}

impl Decoder for AmpStream {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        self.0.decode(line, out)
    }
}
