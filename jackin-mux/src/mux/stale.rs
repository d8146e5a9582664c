use jackin_core::PaneId;

/// Why everything is composed anew, rather than changed rows only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FullRedrawReason {
    /// A terminal was attached.
    Attach,
    /// The terminal has another size.
    Resize,
    /// Another tab is shown.
    Tab,
    /// A pane was opened.
    Open,
    /// A pane is gone.
    Close,
    /// Panes were moved, resized or zoomed.
    Layout,
    /// Another pane has the focus.
    Focus,
    /// A dialog was opened or closed.
    Dialog,
    /// The operator asked for it.
    Request,
    /// The links of the screen were numbered anew.
    Links,
}

/// What of the operator's terminal may no longer be true.
#[derive(Debug, Default)]
pub(super) struct Stale {
    rows: Vec<u64>,
    any: bool,
    full: Option<FullRedrawReason>,
    /// Panes that printed something.
    touched: Vec<PaneId>,
}

impl Stale {
    pub(super) fn mark(&mut self, row: u16) {
        let at = usize::from(row / 64);
        if at >= self.rows.len() {
            self.rows.resize(at + 1, 0);
        }
        self.rows[at] |= 1 << (row % 64);
        self.any = true;
    }

    pub(super) fn mark_all(&mut self, reason: FullRedrawReason) {
        // The first reason is the one that a reader of the log wants.
        self.full.get_or_insert(reason);
    }

    /// Something other than a row is stale: the title, the cursor.
    pub(super) fn mark_rest(&mut self) {
        self.any = true;
    }

    pub(super) fn touch(&mut self, pane: PaneId) {
        if !self.touched.contains(&pane) {
            self.touched.push(pane);
        }
    }

    pub(super) fn touched(&self) -> &[PaneId] {
        &self.touched
    }

    pub(super) fn untouch(&mut self, pane: PaneId) {
        self.touched.retain(|touched| *touched != pane);
    }

    /// Whether everything but panes that printed something is true.
    pub(super) fn is_empty(&self) -> bool {
        !self.any && self.full.is_none()
    }

    pub(super) fn take_full(&mut self) -> Option<FullRedrawReason> {
        self.full.take()
    }

    pub(super) fn clear(&mut self) {
        self.rows.fill(0);
        self.any = false;
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = u16> + '_ {
        self.rows.iter().enumerate().flat_map(|(at, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                (left != 0).then(|| {
                    left &= left - 1;
                    at as u16 * 64 + bit as u16
                })
            })
        })
    }
}
