CREATE TABLE IF NOT EXISTS stock (
	product TEXT PRIMARY KEY,
	count   BIGINT NOT NULL CHECK (count >= 0)
);
CREATE TABLE IF NOT EXISTS orders (
	id         TEXT PRIMARY KEY, -- a UUID; the service knows it as the identifier
	status     TEXT NOT NULL,    -- open, paid, cancelled, sold_out
	total      BIGINT NOT NULL,  -- won
	lang       TEXT NOT NULL,
	pay_token  TEXT NOT NULL DEFAULT '', -- of the newest payment link
	links      BIGINT NOT NULL DEFAULT 0, -- payment links created, or being created
	created_at BIGINT NOT NULL,  -- Unix seconds, as all times here
	deadline   BIGINT NOT NULL
);
DROP INDEX IF EXISTS orders_by_time; -- of older versions
CREATE INDEX IF NOT EXISTS orders_by_key ON orders (created_at, id);
-- How customers can be reached. Orders of older versions have no line here.
CREATE TABLE IF NOT EXISTS contacts (
	order_id TEXT PRIMARY KEY,
	contact  TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS contacts_by_contact ON contacts (lower(replace(replace(contact, '-', ''), ' ', '')));
-- When the goods of a paid order were sent, and by whom.
CREATE TABLE IF NOT EXISTS shipments (
	order_id TEXT PRIMARY KEY,
	sent_at  BIGINT NOT NULL,
	sent_by  TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS order_lines (
	order_id TEXT NOT NULL,
	product  TEXT NOT NULL,
	price    BIGINT NOT NULL,
	count    BIGINT NOT NULL,
	PRIMARY KEY (order_id, product)
);
-- Every payment link of an order, so that the ledger can be asked for each by its key.
CREATE TABLE IF NOT EXISTS pay_links (
	payment  TEXT PRIMARY KEY,
	order_id TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS pay_links_by_order ON pay_links (order_id);
-- What became of each payment: deposits are never dropped, so the books can be checked.
CREATE TABLE IF NOT EXISTS deposits (
	payment     TEXT PRIMARY KEY, -- the payment id
	order_id    TEXT NOT NULL,
	amount      BIGINT NOT NULL,  -- won
	method      TEXT NOT NULL,
	verified_at BIGINT NOT NULL,
	outcome     TEXT NOT NULL,    -- paid, paid_twice, after_cancel, sold_out, rejected
	give_back   BIGINT NOT NULL,  -- how much of it the shop owes the customer
	returned_at BIGINT NOT NULL DEFAULT 0,
	returned_by TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS deposits_by_order ON deposits (order_id);
CREATE INDEX IF NOT EXISTS deposits_by_time ON deposits (verified_at, payment);
DROP INDEX IF EXISTS deposits_owed; -- of older versions
CREATE INDEX IF NOT EXISTS deposits_to_return ON deposits (verified_at, payment) WHERE give_back > 0 AND returned_at = 0;
CREATE INDEX IF NOT EXISTS deposits_returned ON deposits (returned_at DESC, payment) WHERE give_back > 0 AND returned_at > 0;
-- Records that name no payment, and came before the service was asked for all that are open.
CREATE TABLE IF NOT EXISTS asked (
	record TEXT PRIMARY KEY -- its key in the ledger
);
-- Who decided that the money of a payment goes back, and why.
CREATE TABLE IF NOT EXISTS refusals (
	payment    TEXT PRIMARY KEY,
	refused_by TEXT NOT NULL,
	why        TEXT NOT NULL
);
