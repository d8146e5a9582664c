#!/usr/bin/env bash
# Makes docs/console.svg, the README's picture, from the real console over the demo's agents. Needs tmux.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build -q -p jackin-cli --bin jackin
cargo build -q -p jackin-examples --example screen_to_svg
target=${CARGO_TARGET_DIR:-target}/debug
columns=120 rows=32
work=$(mktemp -d)
tm() { tmux -L "jackin-picture-$$" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

mkdir -p "$work/config"
cat > "$work/config/config.toml" <<'CONFIG'
[[tool]]
key = "l"
name = "Run lint"
exec = "cargo clippy"

[[tool]]
key = "i"
name = "Open the issue"
exec = "open {issue}"
CONFIG
tm new-session -d -x "$columns" -y "$rows" -e JACKIN_CONFIG_DIR="$work/config" -e COLORTERM=truecolor \
  "$PWD/$target/jackin demo"
tm set-option -g default-terminal tmux-256color

# Waits until the screen has all of these texts.
until_seen() {
  for _ in $(seq 600); do
    screen=$(tm capture-pane -p)
    for text in "$@"; do [[ $screen == *"$text"* ]] || { sleep 0.1; continue 2; }; done
    return
  done
  echo "never saw: $*" >&2
  exit 1
}
until_seen 'Do you want to run this command?' 'crashed' 'done'
tm send-keys ']'
until_seen '── write-docs' '1. Yes'
tm capture-pane -N -e -p | "$target/examples/screen_to_svg" "$columns" "$rows" > docs/console.svg
tm send-keys q
