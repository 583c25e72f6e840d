// The mock of the service, used from Node's own test runner: node --test mock.test.mjs
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';

const service = process.env.MOCK_URL ?? 'http://127.0.0.1:8080';
const token = process.env.MOCK_TOKEN ?? 'test_demo';

// call sends JSON and reads JSON.
async function call(method, path, body) {
  const answer = await fetch(service + path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return answer.json();
}

// The merchant under test: it confirms what a webhook names, and ships it once. (A shop keeps
// this in its database.)
const shipped = new Map();
let heard; // is called after each webhook
const merchant = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  try {
    const payment = await call('POST', '/payments/confirm', { payToken: JSON.parse(body).payment_id, token });
    if (payment.status === 'COMPLETE' && !shipped.has(payment.id)) shipped.set(payment.id, payment);
    response.writeHead(payment.status === 'COMPLETE' ? 200 : 503).end();
  } catch {
    response.writeHead(503).end(); // the service sends it again
  }
  heard?.();
});

before(async () => {
  await new Promise((listening) => merchant.listen(0, '127.0.0.1', listening));
  await call('PUT', '/_mock/webhook', { token, url: `http://127.0.0.1:${merchant.address().port}/` });
});
beforeEach(async () => {
  shipped.clear();
  await call('DELETE', '/_mock/faults');
});
after(() => merchant.close());

// pay creates a payment and plays the customer at the bank; it ends after the webhook.
async function pay(amount) {
  const { payToken } = await call('POST', '/payments', { token, title: 'Tea', identifier: 'order-1', amount });
  const webhook = new Promise((done) => { heard = done; });
  await call('POST', `/_mock/payments/${payToken}/deposit`, { payer: 'Kim' });
  await webhook;
  return payToken;
}

test('a deposit ships the order', async () => {
  const payToken = await pay(10000);
  assert.deepEqual([...shipped.values()].map((p) => [p.id, p.paid_amount]), [[payToken, 10000]]);
});

test('a repeated webhook ships nothing more', async () => {
  const payment_id = await pay(10000);
  const first = shipped.get(payment_id);
  const { port } = merchant.address();
  const again = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify({ payment_id }) });
  assert.equal(again.status, 200);
  assert.deepEqual([...shipped.values()], [first]);
  assert.equal(shipped.get(payment_id), first);
});

test('a confirm whose answer is lost is confirmed again', async () => {
  await call('POST', '/_mock/faults', { operation: 'confirm', kind: 'drop-after', nth: 1 });
  const payToken = await pay(7000);
  assert.equal(shipped.size, 0);
  // The payment is complete at the service, so it sends no more: confirm by yourself.
  const again = await call('POST', '/payments/confirm', { payToken, token });
  assert.equal(again.status, 'COMPLETE');
});

test('nothing waits for a poll', async () => {
  const empty = await call('GET', `/callback/rest?token=${token}`);
  assert.equal(empty.error, 'NO_PROCESSED_PAYMENT');
});
