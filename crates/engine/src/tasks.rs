//! Every task of the engine is started here, and has an owner that ends it: tasks that are not awaited end with their set.

use std::future::Future;

use tokio::task::{AbortHandle, JoinError, JoinSet};

pub(crate) struct Tasks<T>(JoinSet<T>);

impl<T> Default for Tasks<T> {
    fn default() -> Self {
        Tasks(JoinSet::new())
    }
}

impl<T: Send + 'static> Tasks<T> {
    pub(crate) fn start(&mut self, work: impl Future<Output = T> + Send + 'static) -> AbortHandle {
        self.0.spawn(work)
    }

    /// The next one that ends; waits for ever while there is none.
    pub(crate) async fn next(&mut self) -> Result<T, JoinError> {
        match self.0.join_next().await {
            Some(ended) => ended,
            None => std::future::pending().await,
        }
    }

    /// Waits until all have ended.
    pub(crate) async fn wait(&mut self) {
        while self.0.join_next().await.is_some() {}
    }

    /// Ends all of them, wherever they are, and waits until they have ended.
    pub(crate) async fn end(&mut self) {
        self.0.shutdown().await;
    }

    /// Lets go of those that have ended.
    pub(crate) fn reap(&mut self) {
        while self.0.try_join_next().is_some() {}
    }
}
