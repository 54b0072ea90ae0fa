//! `voxpilot link` on a terminal. What the link does is tested with the devices.

use testkit::server::Rig;

use crate::program::on_terminal;

#[tokio::test]
async fn on_a_terminal_the_link_is_also_a_picture() {
    let server = Rig::default().demo_agent().start().await;
    let shown = on_terminal(&server, &["link"], "").await;
    assert!(shown.starts_with(&format!("open {}/login?link=", server.base)), "{shown}");
    let picture: Vec<_> = shown.lines().filter(|line| line.contains("\x1b[30;107m")).collect();
    assert!(picture.len() > 15 && shown.contains("█▀▀▀▀▀█"), "{shown}");
    server.end().await;
}
