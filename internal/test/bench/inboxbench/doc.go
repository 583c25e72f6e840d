// Package inboxbench measures package inbox, by itself and behind the webhook, next to
// the baselines that it is judged by, in paired rounds of one run. It is part of make
// bench: its tests do nothing unless DEPOSITPAY_BENCH is set, and print their ratios
// then.
//
// Load, receiver and the service's stand-in share one process and the machine with the
// database, so a whole delivery is charged with all of them: the ratios say what the
// inbox adds to a receiver that stores nothing.
package inboxbench
