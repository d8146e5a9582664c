//! The model, drawn. Every frame is made from the model alone; what it has where is kept for the mouse.

mod bars;
mod columns;
mod detail;
mod list;
mod modal;
mod panel;
mod pencil;
mod scene;
mod sgr;
mod text;
mod theme;

pub(crate) use scene::{Link, Scene, Target};
pub(crate) use sgr::plain;
pub(crate) use theme::Theme;

use ratatui::Frame;
use ratatui::buffer::CellDiffOption;
use ratatui::layout::Rect;

use super::model::Model;

/// From this width on, details stand beside the list.
const SIDE_BY_SIDE: u16 = 150;

/// The fewest rows below the list that are worth having.
const LEAST_DETAIL: u16 = 5;

/// Draws the model; what the frame has where.
pub(crate) fn draw(frame: &mut Frame<'_>, model: &Model) -> Scene {
    let theme = model.theme;
    let mut scene = Scene::default();
    let screen = frame.area();
    let buffer = frame.buffer_mut();
    if screen.height == 0 || screen.width == 0 {
        return scene;
    }
    let top = Rect { height: 1, ..screen };
    let bottom_rows = bars::bottom_rows(model, screen).min(screen.height - 1);
    let bottom = Rect { y: screen.bottom() - bottom_rows, height: bottom_rows, ..screen };
    let middle = Rect { y: screen.y + 1, height: screen.height - 1 - bottom_rows, ..screen };
    bars::top(buffer, top, model, theme);
    if middle.height > 0 {
        let (list, detail) = areas(middle, model);
        list::draw(buffer, list, model, theme, &mut scene);
        if let Some((area, side)) = detail {
            detail::draw(buffer, area, side, model, theme, &mut scene);
        }
    }
    bars::bottom(buffer, bottom, model, theme, &mut scene);
    if !model.modals.is_empty() {
        modal::draw(buffer, screen, model, theme, &mut scene);
    }
    // A cell that leads elsewhere than before looks the same and has to be drawn all the same.
    if scene.links != model.scene.links {
        for link in scene.links.iter().chain(&model.scene.links) {
            for position in link.area.intersection(screen).positions() {
                buffer[position].set_diff_option(CellDiffOption::AlwaysUpdate);
            }
        }
    }
    if let Some(cursor) = scene.cursor {
        frame.set_cursor_position(cursor);
    }
    scene
}

/// Where the list is, and where the details are and whether they stand beside it.
fn areas(middle: Rect, model: &Model) -> (Rect, Option<(Rect, bool)>) {
    if model.key().is_none() && !matches!(model.selected, super::model::Selected::Group(_)) {
        return (middle, None);
    }
    if middle.width >= SIDE_BY_SIDE {
        let list = (middle.width * 11 / 20).max(80);
        return (
            Rect { width: list - 1, ..middle },
            Some((Rect { x: middle.x + list, width: middle.width - list, ..middle }, true)),
        );
    }
    // Below: the list as long as it is, up to a part of the screen.
    let share = if model.show_preview { middle.height * 9 / 20 } else { middle.height * 13 / 20 };
    let wants = model.rows.len() as u16 + 1;
    let list = wants.clamp(3, share.max(4)).min(middle.height);
    let left = middle.height - list;
    if left < LEAST_DETAIL {
        return (middle, None);
    }
    (Rect { height: list, ..middle }, Some((Rect { y: middle.y + list, height: left, ..middle }, false)))
}
