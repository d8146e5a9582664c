use jackin_core::{PaneId, Size};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn pane(number: u32) -> PaneId {
    PaneId::new(number).unwrap()
}

fn area(rows: u16, cols: u16) -> Rect {
    Rect::of(Size::new(rows, cols))
}

#[derive(Clone, Debug)]
enum Op {
    Split(usize, Side),
    Close(usize),
    Focus(usize),
    Move(Direction),
    Swap(bool),
    Zoom,
    Resize(Direction, u16),
    Drag(usize, u16),
    Equalise,
    Area(u16, u16),
}

fn direction() -> impl Strategy<Value = Direction> {
    prop::sample::select(vec![Direction::Left, Direction::Down, Direction::Up, Direction::Right])
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (any::<usize>(), prop::bool::ANY)
            .prop_map(|(at, right)| Op::Split(at, if right { Side::Right } else { Side::Down })),
        2 => any::<usize>().prop_map(Op::Close),
        1 => any::<usize>().prop_map(Op::Focus),
        1 => direction().prop_map(Op::Move),
        1 => any::<bool>().prop_map(Op::Swap),
        1 => Just(Op::Zoom),
        2 => (direction(), 0..30u16).prop_map(|(direction, cells)| Op::Resize(direction, cells)),
        2 => (any::<usize>(), 0..210u16).prop_map(|(border, to)| Op::Drag(border, to)),
        1 => Just(Op::Equalise),
        1 => (1..60u16, 1..200u16).prop_map(|(rows, cols)| Op::Area(rows, cols)),
    ]
}

/// The rules at the top of the module, looked at cell by cell.
fn check(layout: &Layout, panes: &[PaneId], area: Rect) {
    let mut listed = layout.panes();
    assert!(listed.contains(&layout.focus()));
    listed.sort_unstable();
    assert_eq!(listed, panes, "every pane stands in the tree once");
    let placement = layout.place(area);
    let mut owners = vec![0; usize::from(area.rows) * usize::from(area.cols)];
    let rects = placement.panes.iter().map(|(_, rect)| *rect);
    for rect in rects.chain(placement.borders.iter().map(|border| border.rect)) {
        assert!(!rect.is_empty());
        for row in rect.row..rect.bottom() {
            for col in rect.col..rect.right() {
                owners[usize::from(row) * usize::from(area.cols) + usize::from(col)] += 1;
            }
        }
    }
    assert!(owners.iter().all(|owners| *owners == 1), "panes and borders tile the area");
    if !placement.hidden.is_empty() || area.rows < MIN_ROWS || area.cols < MIN_COLS {
        return;
    }
    for (_, rect) in &placement.panes {
        assert!(rect.rows >= MIN_ROWS && rect.cols >= MIN_COLS, "{placement:?}");
    }
}

proptest! {
    #[test]
    fn the_rules_hold_after_any_sequence(ops in vec(op(), 0..60)) {
        let mut area = area(24, 80);
        let mut panes = vec![pane(1)];
        let mut layout = Layout::new(pane(1));
        let mut next = 2;
        for op in ops {
            match op {
                Op::Split(at, side) => {
                    let beside = panes[at % panes.len()];
                    if layout.split(beside, side, pane(next), area) {
                        panes.push(pane(next));
                        next += 1;
                    }
                }
                Op::Close(at) => {
                    let gone = panes[at % panes.len()];
                    let closed = layout.close(gone);
                    prop_assert_eq!(closed, panes.len() > 1);
                    if closed {
                        panes.retain(|pane| *pane != gone);
                    }
                }
                Op::Focus(at) => {
                    let focused = panes[at % panes.len()];
                    prop_assert!(layout.set_focus(focused));
                    prop_assert_eq!(layout.focus(), focused);
                }
                Op::Move(direction) => {
                    if let Some(neighbour) = layout.neighbour(direction, area) {
                        prop_assert_ne!(neighbour, layout.focus());
                        layout.set_focus(neighbour);
                    }
                }
                Op::Swap(forward) => prop_assert_eq!(layout.swap(forward), panes.len() > 1),
                Op::Zoom => {
                    layout.toggle_zoom();
                    if layout.is_zoomed() {
                        prop_assert_eq!(layout.place(area).panes, vec![(layout.focus(), area)]);
                    }
                }
                Op::Resize(direction, cells) => {
                    layout.resize(direction, cells, area);
                }
                Op::Drag(at, to) => {
                    let borders = layout.place(area).borders;
                    if !borders.is_empty() && !layout.is_zoomed() {
                        layout.drag(&borders[at % borders.len()], to, area);
                    }
                }
                Op::Equalise => layout.equalise(),
                Op::Area(rows, cols) => area = super::tests::area(rows, cols),
            }
            panes.sort_unstable();
            check(&layout, &panes, area);
        }
    }

    #[test]
    fn a_border_goes_where_it_is_dragged(cols in 7..300u16, to in 0..300u16) {
        let area = area(10, cols);
        let mut layout = Layout::new(pane(1));
        layout.split(pane(1), Side::Right, pane(2), area);
        let border = layout.place(area).borders[0].clone();
        layout.drag(&border, to, area);
        let expected = to.clamp(MIN_COLS, cols - 1 - MIN_COLS);
        prop_assert_eq!(layout.place(area).borders[0].rect.col, expected);
    }
}

#[test]
fn focus_moves_as_the_eye_does() {
    let area = area(24, 80);
    let mut layout = Layout::new(pane(1));
    assert!(layout.split(pane(1), Side::Right, pane(2), area));
    assert!(layout.split(pane(2), Side::Down, pane(3), area));
    // 1 | 2
    //   | 3
    let from = |layout: &mut Layout, focus, direction| {
        layout.set_focus(pane(focus));
        layout.neighbour(direction, area).map(PaneId::get)
    };
    assert_eq!(from(&mut layout, 1, Direction::Right), Some(2), "of equal neighbours the upper one");
    assert_eq!(from(&mut layout, 3, Direction::Left), Some(1));
    assert_eq!(from(&mut layout, 3, Direction::Up), Some(2));
    assert_eq!(from(&mut layout, 2, Direction::Down), Some(3));
    assert_eq!(from(&mut layout, 2, Direction::Up), None);
    assert_eq!(from(&mut layout, 1, Direction::Left), None);
}

#[test]
fn a_closed_pane_leaves_its_place_to_its_sibling_and_the_focus_to_the_last_one() {
    let area = area(24, 80);
    let mut layout = Layout::new(pane(1));
    layout.split(pane(1), Side::Right, pane(2), area);
    layout.split(pane(2), Side::Down, pane(3), area);
    layout.set_focus(pane(3));
    layout.set_focus(pane(1));
    layout.set_focus(pane(3));
    assert!(layout.close(pane(3)));
    assert_eq!(layout.focus(), pane(1));
    assert_eq!(layout.place(area).rect(pane(2)).unwrap().rows, 24);
    assert!(layout.close(pane(2)) && !layout.close(pane(1)));
    assert_eq!(layout.place(area).rect(pane(1)), Some(area));
}

#[test]
fn keys_move_the_border_in_their_direction() {
    let area = area(24, 81);
    let mut layout = Layout::new(pane(1));
    layout.split(pane(1), Side::Right, pane(2), area);
    let border = |layout: &Layout| layout.place(area).borders[0].rect.col;
    assert_eq!(border(&layout), 40);
    for (focus, direction, expected) in [
        (1, Direction::Right, 45),
        (2, Direction::Right, 50),
        (2, Direction::Left, 45),
        (1, Direction::Left, 40),
    ] {
        layout.set_focus(pane(focus));
        assert!(layout.resize(direction, 5, area));
        assert_eq!(border(&layout), expected);
    }
    assert!(!layout.resize(Direction::Up, 5, area), "there is no border to move");
}

#[test]
fn equal_shares_for_panes_in_a_line() {
    let area = area(24, 92);
    let mut layout = Layout::new(pane(1));
    layout.split(pane(1), Side::Right, pane(2), area);
    layout.split(pane(2), Side::Right, pane(3), area);
    layout.equalise();
    let widths: Vec<u16> = layout.place(area).panes.iter().map(|(_, rect)| rect.cols).collect();
    assert_eq!(widths, [30, 30, 30]);
}

#[test]
fn too_small_an_area_hides_and_a_larger_one_brings_back() {
    let mut layout = Layout::new(pane(1));
    layout.split(pane(1), Side::Right, pane(2), area(24, 80));
    let before = layout.place(area(24, 80));
    assert_eq!(layout.place(area(1, 4)).hidden, [pane(2)]);
    assert_eq!(layout.place(area(24, 80)), before);
    assert!(!layout.split(pane(1), Side::Right, pane(3), area(1, 4)), "no room, no split");
}
