// The files of the project of the pictures, and what agents write into it.

const router = `//! Which request goes where.

use axum::Router;
use axum::routing::{get, post};

use crate::labels::create_label;
use crate::state::AppState;
use crate::track::{ParcelId, Track};

/// Everything that needs no key.
pub fn open_routes() -> Router {
    Router::new().route("/health", get(health))
}

async fn health() -> &'static str {
    "ok"
}

/// Everything that customers call.
pub fn public_routes(state: AppState) -> Router {
    Router::new()
        .route("/v1/track/{id}", get(track))
        .route("/v1/labels", post(create_label))
        .layer(auth(state.clone()))
}

async fn track(Path(id): Path<ParcelId>) -> Json<Track> {
    Json(Track::of(id).await)
}
`;
const config = `//! What can be set.

use std::time::Duration;

pub struct Limits {
    pub rate: u32,
}

pub struct Config {
    pub bind: String,
    pub timeout: Duration,
    pub limits: Limits,
}
`;
const api = `# The API

## Authentication

Each request carries a key in \`Authorization\`.

## Errors

An error has a code and a sentence.
`;

export const files: Record<string, string> = {
  "Cargo.toml": '[package]\nname = "parcel"\nversion = "2.8.0"\nedition = "2024"\n',
  "src/main.rs": "mod config;\nmod http;\n\nfn main() {}\n",
  "src/http/router.rs": router,
  "src/config.rs": config,
  "docs/api.md": api,
  "migrations/0041_parcels.sql": "create table parcels (id uuid primary key);\n",
};

const limit = `//! How often a key may call.

use std::time::Duration;

/// A bucket for each key, and what fits into it.
pub struct RateLimit {
    buckets: Buckets,
    limits: Limits,
}

impl RateLimit {
    pub fn per_key(limits: Limits) -> Self {
        Self { buckets: Buckets::sharded(64), limits }
    }

    // A key that was never seen starts with a full bucket.
    fn take(&self, key: &ApiKey, now: Instant) -> Result<(), Duration> {
        let bucket = self.buckets.entry(key).or_insert_with(Bucket::full);
        bucket.refill(now, self.limits.rate);
        bucket.take_one().map_err(|missing| missing / self.limits.rate)
    }

    /// Forgets keys that have not called for a minute.
    pub fn sweep(&self, now: Instant) {
        self.buckets.retain(|bucket| now - bucket.last < IDLE);
    }
}
`;
const test = (name: string) => `#[test]\nfn ${name}() {\n    let (limit, clock) = limited(20);\n    assert!(limit.take(&key("a"), clock.now()).is_ok());\n}\n`;

/** What agents make of them. */
export const written: Record<string, string> = {
  "src/http/router.rs": router
    .replace("get(track))", "get(track).head(track_head))")
    .replace(".layer(auth(state.clone()))", ".layer(RateLimit::per_key(state.limits.clone()))\n        .layer(auth(state))"),
  "src/config.rs": config.replace("pub rate: u32,", "/// Requests in a minute.\n    pub rate: u32,\n    /// Requests at once.\n    pub burst: u32,"),
  "src/http/limit.rs": limit,
  "docs/api.md": api.replace(
    "## Errors",
    "## Rate limits\n\nA key may make 60 requests a minute, 20 of them at once. The next one gets a 429:\n\n```\nHTTP/1.1 429 Too Many Requests\nRetry-After: 3\n```\n\n## Errors",
  ),
  "tests/limit.rs": [
    "burst_of_twenty_passes",
    "twenty_first_gets_429_with_retry_after",
    "refill_after_one_second",
    "two_keys_do_not_share",
  ]
    .map(test)
    .join("\n"),
  "migrations/0042_by_month.sql": Array.from(
    { length: 24 },
    (_, month) => `create table parcels_${2025 + Math.floor(month / 12)}_${(month % 12) + 1} partition of parcels;\n`,
  ).join(""),
};
