use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jackin_core::Timestamp;

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Now.
pub(super) fn now() -> Timestamp {
    Timestamp::from_millis(u64::try_from(since_epoch().as_millis()).unwrap_or(u64::MAX))
}

/// A moment that is later than every one before it in this process, to the nanosecond: the time, and the nanoseconds
/// within its second.
pub(super) fn later() -> (Timestamp, u32) {
    static LAST: Mutex<Duration> = Mutex::new(Duration::ZERO);
    let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *last = since_epoch().max(*last + Duration::from_nanos(1));
    let millis = u64::try_from(last.as_millis()).unwrap_or(u64::MAX);
    (Timestamp::from_millis(millis), last.subsec_nanos())
}
