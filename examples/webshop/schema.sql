CREATE TABLE IF NOT EXISTS stock (
	product TEXT PRIMARY KEY,
	count   BIGINT NOT NULL CHECK (count >= 0)
);
CREATE TABLE IF NOT EXISTS orders (
	id         TEXT PRIMARY KEY, -- a UUID; the service knows it as the identifier
	status     TEXT NOT NULL,    -- open, paid, cancelled, sold_out
	total      BIGINT NOT NULL,  -- won
	lang       TEXT NOT NULL,
	created_at BIGINT NOT NULL,  -- Unix seconds, as all times here
	deadline   BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS order_lines (
	order_id TEXT NOT NULL,
	product  TEXT NOT NULL,
	price    BIGINT NOT NULL,
	count    BIGINT NOT NULL,
	PRIMARY KEY (order_id, product)
);
-- The payments created for an order, numbered from 0.
CREATE TABLE IF NOT EXISTS pay_links (
	order_id   TEXT NOT NULL,
	n          BIGINT NOT NULL,
	payment    TEXT NOT NULL DEFAULT '', -- empty until the service has created it
	created_at BIGINT NOT NULL,
	PRIMARY KEY (order_id, n)
);
-- What became of each payment that grant handled.
CREATE TABLE IF NOT EXISTS deposits (
	payment     TEXT PRIMARY KEY, -- the payment id
	order_id    TEXT NOT NULL,
	amount      BIGINT NOT NULL,  -- won
	outcome     TEXT NOT NULL,    -- paid, paid_twice, after_cancel, sold_out
	owed        BIGINT NOT NULL,  -- how much of it the shop owes the customer
	verified_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS deposits_by_order ON deposits (order_id);
CREATE INDEX IF NOT EXISTS deposits_by_time ON deposits (verified_at, payment);
