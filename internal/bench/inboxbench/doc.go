// Package inboxbench measures package inbox beside the baselines that it is judged by,
// in paired rounds of one run. It is part of make bench: its tests do nothing unless
// DEPOSITPAY_BENCH is set, and print their ratios then.
package inboxbench
