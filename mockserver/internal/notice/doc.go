// Package notice reads the notifications of Korean banking apps: was money paid
// in, how much, and by whom (interface §1.3, §4.6). It holds no state.
//
// # How it reads
//
// The apps differ in order and wording, not in kind, so a few rules read them all
// and no bank has code of its own. [Banks] names what each bank's forms look like.
//
//  1. Fold: full-width signs, jamo, ₩ and the signs that hide a name become one
//     form each. What is not text (NUL, broken UTF-8) or longer than 4 KiB is no
//     notification of a bank.
//  2. Split into words, numbers and codes. A code is a date, a time or an account
//     number: digits with other signs between them, or partly hidden.
//  3. Direction: a word that states a deposit (입금, 전자금융입금, 받았어요). A
//     condition, a request, a cancellation or an advert ("100만원 입금하면")
//     states none, whatever else the text says.
//  4. Amount: a number with 원, ₩ or KRW, with separated thousands, or right
//     behind the deposit's word; not one behind 잔액, 수수료 and the like. All
//     that remain must be one and the same.
//  5. Payer: what stands before 님이, 님으로부터 or an arrow, or behind a label
//     such as 보낸분. Else what is left when all words of the banks' own language
//     are gone; again that must be one name. A name with 님 alone is the customer
//     whom the bank addresses.
//
// In doubt nothing is guessed: a deposit that leaves a choice has no amount, or
// no payer, and a person decides.
//
// # Limits
//
// Whole won only, written in digits. Names are compared as they are, apart from
// spaces, case, width and the composition of Hangul: a name that a bank has cut
// short, or another spelling of a company, is another name. Accents of Latin
// letters are not composed.
package notice
