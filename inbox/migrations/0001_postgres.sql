-- One row a payment, for ever: its id is what makes a second grant impossible.
-- Keys compare by their bytes: an index in a language's order is wrong, and lets a key in
-- twice, once the system's library orders otherwise.
-- Times are microseconds since 1970, of the database's clock.
CREATE TABLE {p}payments (
  payment_id text COLLATE "C" PRIMARY KEY,
  stage      smallint NOT NULL CHECK (stage BETWEEN {expected} AND {dead}),
  source     smallint NOT NULL DEFAULT 0,
  serialized    smallint NOT NULL DEFAULT 0, -- waits for earlier ones of its identifier
  own        smallint NOT NULL DEFAULT 0,
  approved   smallint NOT NULL DEFAULT 0,
  confirm    smallint NOT NULL DEFAULT 0, -- ConfirmState: what is known of the confirms of a hint
  identifier text     COLLATE "C" NOT NULL DEFAULT '',
  order_id   text,
  amount     text,
  items      text,
  record     text,
  run_at     bigint   NOT NULL,
  leased     bigint   NOT NULL DEFAULT 0, -- by who claimed it; in no index
  wait       bigint   NOT NULL DEFAULT 0, -- from when run_at or leased was last set until then; see clock.go
  asked_at   bigint   NOT NULL DEFAULT 0, -- the last confirm of a payment without a record; see ConfirmState
  attempt    bigint   NOT NULL DEFAULT 0,
  tries      integer  NOT NULL DEFAULT 0,
  seen       integer  NOT NULL DEFAULT 1,
  reason     text     NOT NULL DEFAULT '',
  first_seen bigint   NOT NULL,
  ready_at   bigint,
  done_at    bigint,
  CHECK (stage IN ({expected}, {hint}) OR record IS NOT NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX {p}payments_ready ON {p}payments (run_at) WHERE stage = {ready};
CREATE INDEX {p}payments_owed ON {p}payments (own, run_at) WHERE stage < {ready};
CREATE INDEX {p}payments_unpaid ON {p}payments (first_seen) WHERE stage = {expected};
CREATE INDEX {p}payments_open ON {p}payments (stage, first_seen) WHERE stage IN ({hint}, {review}, {dead});
CREATE INDEX {p}payments_done ON {p}payments (done_at) WHERE stage = {done} AND record <> '';
CREATE INDEX {p}payments_who ON {p}payments (identifier, ready_at) WHERE stage = {ready} AND serialized = 1;

-- What the merchant expects to be paid for.
CREATE TABLE {p}orders (
  order_id   text   COLLATE "C" PRIMARY KEY,
  payment_id text   COLLATE "C",
  identifier text   COLLATE "C" NOT NULL,
  amount     text   NOT NULL,
  items      text   NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX {p}orders_payment ON {p}orders (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX {p}orders_unbound ON {p}orders (identifier) WHERE payment_id IS NULL;

-- Every body received, append-only, besides the first record of a payment, which stands
-- in its row. The body is dropped after a time, the line stays.
CREATE TABLE {p}receipts (
  receipt_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id text     COLLATE "C" NOT NULL,
  channel    smallint NOT NULL,
  outcome    text     NOT NULL,
  attempt    bigint   NOT NULL,
  body       text,
  at         bigint   NOT NULL
);
CREATE INDEX {p}receipts_payment ON {p}receipts (payment_id);

-- What people decided.
CREATE TABLE {p}audit (
  audit_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id text   COLLATE "C" NOT NULL,
  action     text   NOT NULL,
  actor      text   NOT NULL,
  reason     text   NOT NULL,
  at         bigint NOT NULL
);
CREATE INDEX {p}audit_payment ON {p}audit (payment_id);

-- The poll journal: one open line for each running poller. An open line of a poller
-- that no longer runs is a possible loss.
CREATE TABLE {p}polls (
  poll_id   text   COLLATE "C" PRIMARY KEY,
  opened_at bigint NOT NULL,
  beat_at   bigint NOT NULL,
  closed_at bigint,
  outcome   text   NOT NULL DEFAULT ''
);
CREATE INDEX {p}polls_open ON {p}polls (opened_at) WHERE closed_at IS NULL;

CREATE TABLE {p}meta (
  name  text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);
