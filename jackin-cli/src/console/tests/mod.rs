//! What the console shows and does, without a terminal: messages go in, a screen of any size comes out.

mod behaviour;
mod hostile;
mod sequences;
mod shows;
mod stage;
