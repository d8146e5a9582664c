use std::fmt;
use std::sync::Arc;

use jackin_core::InstanceName;
use thiserror::Error;

use crate::placeholder::Placeholder;

/// What is known when a tool is fired: the instance that it is fired for and the values for its placeholders, each
/// with where it comes from. What was not set is missing; there are no empty defaults.
///
/// ```
/// use jackin_tools::{Context, Placeholder, Provenance};
///
/// let mut context = Context::of("api-fix".parse()?);
/// context.set(Placeholder::Issue, "https://example.com/acme/api/issues/7", Provenance::Agent)?;
/// assert_eq!(context.get(Placeholder::Instance).unwrap().text(), "jackin-api-fix");
/// assert_eq!(context.get(Placeholder::Issue).unwrap().provenance(), Provenance::Agent);
/// assert!(context.get(Placeholder::Pr).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Context {
    instance: Option<InstanceName>,
    values: [Option<Value>; Placeholder::ALL.len()],
}

/// A captured value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    text: Arc<str>,
    provenance: Provenance,
}

/// Who provided a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provenance {
    /// The agent declared it with a tag.
    Agent,
    /// The operator set it or typed it.
    Operator,
    /// The host knows it: names and paths of its own.
    Host,
}

/// Why a value cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ValueError {
    /// No program can receive it.
    #[error("the value for {0} contains a NUL character, which no program can receive")]
    Nul(Placeholder),
    /// It would not fit into one argument on every system.
    #[error("the value for {placeholder} is {len} bytes long: at most {} are allowed", Context::MAX_VALUE)]
    TooLong {
        /// Whose value.
        placeholder: Placeholder,
        /// Its length in bytes.
        len: usize,
    },
}

impl Context {
    /// The longest value in bytes. Linux gives one argument or variable 128 KiB.
    pub const MAX_VALUE: usize = 64 * 1024;

    /// Nothing is known, not even an instance.
    pub fn new() -> Self {
        Self::default()
    }

    /// The context of an instance, of which the name is known.
    pub fn of(instance: InstanceName) -> Self {
        let name = Value { text: instance.container_name().into(), provenance: Provenance::Host };
        let mut context = Self { instance: Some(instance), ..Self::default() };
        context.values[Placeholder::Instance as usize] = Some(name);
        context
    }

    /// The instance that the tool is fired for.
    pub fn instance(&self) -> Option<&InstanceName> {
        self.instance.as_ref()
    }

    /// Sets a value, in place of an earlier one.
    pub fn set(
        &mut self,
        placeholder: Placeholder,
        text: impl Into<Arc<str>>,
        provenance: Provenance,
    ) -> Result<(), ValueError> {
        let text = text.into();
        if text.contains('\0') {
            return Err(ValueError::Nul(placeholder));
        }
        if text.len() > Self::MAX_VALUE {
            return Err(ValueError::TooLong { placeholder, len: text.len() });
        }
        self.values[placeholder as usize] = Some(Value { text, provenance });
        Ok(())
    }

    /// The value for a placeholder, where it is known.
    pub fn get(&self, placeholder: Placeholder) -> Option<&Value> {
        self.values[placeholder as usize].as_ref()
    }

    /// Everything that is known.
    pub fn values(&self) -> impl Iterator<Item = (Placeholder, &Value)> {
        Placeholder::ALL.into_iter().filter_map(|placeholder| Some((placeholder, self.get(placeholder)?)))
    }
}

impl Value {
    /// The value itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Who provided it.
    pub fn provenance(&self) -> Provenance {
        self.provenance
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Agent => "agent",
            Self::Operator => "operator",
            Self::Host => "host",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_no_program_can_receive_are_refused() {
        let mut context = Context::new();
        let error = context.set(Placeholder::Input, "a\0b", Provenance::Operator).unwrap_err();
        assert_eq!(error, ValueError::Nul(Placeholder::Input));
        let long = "x".repeat(Context::MAX_VALUE + 1);
        let error = context.set(Placeholder::Link, long, Provenance::Agent).unwrap_err();
        assert_eq!(error.to_string(), "the value for {link} is 65537 bytes long: at most 65536 are allowed");
        assert_eq!(context.values().count(), 0);
        context.set(Placeholder::Input, "", Provenance::Operator).unwrap();
        assert_eq!(context.get(Placeholder::Input).unwrap().text(), "", "an empty answer is an answer");
    }
}
