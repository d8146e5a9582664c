use serde::Serialize;

/// A value as YAML with each text on its own line, so that simple readers find it, too.
pub(super) fn to_yaml(value: &impl Serialize) -> Result<String, String> {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    serde_saphyr::to_string_with_options(value, options).map_err(|error| error.to_string())
}
