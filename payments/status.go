package payments

// Status is the state of a payment (interface §3). Values other than these constants are
// passed through unchanged.
type Status string

// Statuses named by the interface.
const (
	StatusProgress Status = "PROGRESS" // the deposit is recognized, approval is pending
	StatusComplete Status = "COMPLETE" // completed and approved
)

// Method is a payment method (interface §2.2). Values other than these constants are passed
// through unchanged.
type Method string

// Methods seen in live deployments. A failed gift voucher arrives as a completed payment of
// amount 0: check Payment.PaidAmount, never only the method.
const (
	MethodDeposit Method = "DEPOSIT" // bank transfer
	MethodCulture Method = "CULTURE" // gift voucher
)
