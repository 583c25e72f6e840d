// Package chrome gives tests a real browser, without a window. It is for tests only.
//
//	browser := chrome.Start(t)             // one process, with a profile of its own
//	page := browser.Open(t, chrome.Options{Lang: "ko"})
//	page.Go(mock.CheckoutURL() + "/" + payToken)
//	page.Fill("#payer", "김민수")
//	page.Submit("#payer-form button")
//	page.WaitText("#status", "입금해 주세요")
//
// Whatever a method of [Page] cannot do fails the test. Waiting has no deadline that a
// slow machine could miss, except that everything gives up after [Patience].
//
// At its end each page fails the test if the browser has reported an error on the
// console or a script has thrown one, if a dialog has opened, or if the page has asked
// another host than those of the addresses that the test has opened for anything. The
// browser itself can look up no names.
//
// # Where the browser comes from
//
//  1. DEPOSITPAY_TEST_CHROME, if set, is the program.
//  2. Otherwise Chromium or Chrome is looked for on PATH and in the usual folders.
//  3. Otherwise, where the tests run as root, or sudo asks for no password, and apt-get is
//     there (a container), Debian's package is installed.
//  4. Otherwise the test is skipped loudly; where the environment variable CI is set, it
//     fails.
package chrome
