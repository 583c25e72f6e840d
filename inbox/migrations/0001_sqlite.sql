-- One row a payment, for ever: its id is what makes a second grant impossible.
-- Times are microseconds since 1970, of the database's clock.
CREATE TABLE {p}payments (
  payment_id TEXT PRIMARY KEY,
  stage      INTEGER NOT NULL CHECK (stage BETWEEN {expected} AND {dead}),
  source     INTEGER NOT NULL DEFAULT 0,
  serialized    INTEGER NOT NULL DEFAULT 0, -- waits for earlier ones of its identifier
  own        INTEGER NOT NULL DEFAULT 0,
  approved   INTEGER NOT NULL DEFAULT 0,
  confirm    INTEGER NOT NULL DEFAULT 0, -- ConfirmState: what is known of the confirms of a hint
  identifier TEXT     NOT NULL DEFAULT '',
  order_id   TEXT,
  amount     TEXT,
  items      TEXT,
  record     TEXT,
  run_at     INTEGER   NOT NULL,
  leased     INTEGER   NOT NULL DEFAULT 0, -- by who claimed it; in no index
  wait       INTEGER   NOT NULL DEFAULT 0, -- from when run_at or leased was last set until then; see clock.go
  asked_at   INTEGER   NOT NULL DEFAULT 0, -- the last confirm of a payment without a record; see ConfirmState
  attempt    INTEGER   NOT NULL DEFAULT 0,
  tries      INTEGER  NOT NULL DEFAULT 0,
  seen       INTEGER  NOT NULL DEFAULT 1,
  reason     TEXT     NOT NULL DEFAULT '',
  first_seen INTEGER   NOT NULL,
  ready_at   INTEGER,
  done_at    INTEGER,
  CHECK (stage IN ({expected}, {hint}) OR record IS NOT NULL)
) STRICT;
CREATE INDEX {p}payments_ready ON {p}payments (run_at) WHERE stage = {ready};
CREATE INDEX {p}payments_owed ON {p}payments (own, run_at) WHERE stage < {ready};
CREATE INDEX {p}payments_unpaid ON {p}payments (first_seen) WHERE stage = {expected};
CREATE INDEX {p}payments_open ON {p}payments (stage, first_seen) WHERE stage IN ({hint}, {review}, {dead});
CREATE INDEX {p}payments_done ON {p}payments (done_at) WHERE stage = {done} AND record <> '';
CREATE INDEX {p}payments_who ON {p}payments (identifier, ready_at) WHERE stage = {ready} AND serialized = 1;

-- What the merchant expects to be paid for.
CREATE TABLE {p}orders (
  order_id   TEXT PRIMARY KEY,
  payment_id TEXT,
  identifier TEXT   NOT NULL,
  amount     TEXT   NOT NULL,
  items      TEXT   NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX {p}orders_payment ON {p}orders (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX {p}orders_unbound ON {p}orders (identifier) WHERE payment_id IS NULL;

-- Every body received, append-only, besides the first record of a payment, which stands
-- in its row. The body is dropped after a time, the line stays.
CREATE TABLE {p}receipts (
  receipt_id INTEGER PRIMARY KEY AUTOINCREMENT,
  payment_id TEXT     NOT NULL,
  channel    INTEGER NOT NULL,
  outcome    TEXT     NOT NULL,
  attempt    INTEGER NOT NULL,
  body       TEXT,
  at         INTEGER   NOT NULL
) STRICT;
CREATE INDEX {p}receipts_payment ON {p}receipts (payment_id);

-- What people decided.
CREATE TABLE {p}audit (
  audit_id   INTEGER PRIMARY KEY AUTOINCREMENT,
  payment_id TEXT   NOT NULL,
  action     TEXT   NOT NULL,
  actor      TEXT   NOT NULL,
  reason     TEXT   NOT NULL,
  at         INTEGER NOT NULL
) STRICT;
CREATE INDEX {p}audit_payment ON {p}audit (payment_id);

-- The poll journal: one open line for each running poller. An open line of a poller
-- that no longer runs is a possible loss.
CREATE TABLE {p}polls (
  poll_id   TEXT PRIMARY KEY,
  opened_at INTEGER NOT NULL,
  beat_at   INTEGER NOT NULL,
  closed_at INTEGER,
  outcome   TEXT   NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX {p}polls_open ON {p}polls (opened_at) WHERE closed_at IS NULL;

CREATE TABLE {p}meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
