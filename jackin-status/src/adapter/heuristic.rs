use async_trait::async_trait;

use super::{Feed, FeedItem, Reporter, StatusAdapter};
use crate::{Evidence, Tally};

/// For an agent that says nothing of itself: whatever it prints is its heartbeat, and when neither it nor the operator's
/// keyboard has been heard of for 30 seconds it is taken for idle.
///
/// That is all that it can conclude, and weakly: anything else that is known of the session counts for more. It cannot
/// tell a question from silence.
#[derive(Debug, Default)]
pub struct Heuristic {}

#[async_trait]
impl StatusAdapter for Heuristic {
    async fn run(&mut self, feed: &mut dyn Feed, reporter: &Reporter) -> Tally {
        let tally = Tally::default();
        while let Some((now, item)) = feed.next().await {
            match item {
                FeedItem::Bytes(_) | FeedItem::Line(_) | FeedItem::Output => {
                    reporter.report(Evidence::Output, now);
                }
                FeedItem::Input => {
                    reporter.report(Evidence::Input, now);
                }
                FeedItem::Event(_) | FeedItem::Tick => {
                    reporter.look(now);
                }
            }
        }
        tally
    }
}
