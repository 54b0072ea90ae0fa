//! What becomes of spans where a collector is not as it should be.

use telemetry::{Exporter, Span, Spans};
use testkit::collector::{Answer, Collector};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::SOON;

struct Sending {
    spans: Spans,
    stop: CancellationToken,
    task: JoinSet<()>,
}

impl Sending {
    fn to(url: &str) -> Sending {
        let (spans, exporter) = Exporter::new(url, "1.2.3").unwrap();
        let (stop, mut task) = (CancellationToken::new(), JoinSet::new());
        task.spawn(exporter.run(stop.clone()));
        Sending { spans, stop, task }
    }

    fn tell(&self, name: &'static str) {
        let (trace_id, span_id) = ([7; 16], [9; 8]);
        let attributes = vec![("agent", "demo".into())];
        self.spans.tell(Span { trace_id, span_id, parent_id: None, name, begun_ns: 1, ended_ns: 2, attributes, failed: false });
    }

    /// What was sent and what was dropped, once nothing is left.
    async fn over(mut self) -> (u64, u64) {
        self.stop.cancel();
        tokio::time::timeout(SOON, self.task.join_next()).await.expect("it comes to an end");
        let counts = self.spans.counts().unwrap();
        (counts.sent.get(), counts.dropped.get())
    }
}

#[tokio::test]
async fn a_collector_that_is_busy_is_asked_again_with_the_same() {
    let collector = Collector::start().await;
    for status in [429, 500, 503] {
        collector.answer(Answer::Http(status, "retry-after: 0\r\n".to_owned(), "not yet".to_owned()));
    }
    collector.answer(Answer::Http(200, String::new(), "{\"partialSuccess\": garbage".to_owned()));
    let sending = Sending::to(&collector.url());
    sending.tell("turn");
    collector.wait("the fourth try", |collector| collector.posted().len() == 4).await;
    let posted = collector.posted();
    assert!(posted.iter().all(|one| one.body == posted[0].body), "{posted:#?}");
    assert!(posted[0].body.contains("\"service.version\",\"value\":{\"stringValue\":\"1.2.3\"}"), "{}", posted[0].body);
    assert_eq!(sending.over().await, (1, 0));
}

#[tokio::test]
async fn nothing_is_sent_on_to_where_a_collector_points() {
    let (collector, elsewhere) = (Collector::start().await, Collector::start().await);
    for status in [301, 302, 307, 308] {
        collector.answer(Answer::Http(status, format!("location: {}/v1/traces\r\n", elsewhere.url()), String::new()));
        let sending = Sending::to(&collector.url());
        sending.tell("turn");
        assert_eq!(sending.over().await, (0, 1), "{status}");
    }
    assert_eq!((collector.posted().len(), elsewhere.posted().len()), (4, 0));
}

#[tokio::test]
async fn what_a_collector_refuses_is_not_repeated_and_the_next_goes_on() {
    let collector = Collector::start().await;
    collector.answer(Answer::status(400));
    let sending = Sending::to(&collector.url());
    sending.tell("first");
    collector.wait("the first", |collector| collector.posted().len() == 1).await;
    sending.tell("second");
    collector.wait("the second", |collector| collector.posted().len() == 2).await;
    assert_eq!(sending.over().await, (1, 1));
}

#[tokio::test]
async fn what_waits_when_it_is_stopped_is_still_sent() {
    let collector = Collector::start().await;
    let sending = Sending::to(&collector.url());
    for _ in 0..2000 {
        sending.tell("turn");
    }
    assert_eq!(sending.over().await, (2000, 0));
    assert_eq!(collector.spans().len(), 2000);
}
