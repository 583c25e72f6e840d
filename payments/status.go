package payments

// Status is a stage of a payment's life (interface §3). It is an open set: a value
// not named here passes through unchanged.
type Status string

// Statuses that the interface names.
const (
	StatusProgress Status = "PROGRESS" // the deposit is recognised, approval is pending
	StatusComplete Status = "COMPLETE" // completed and approved
)

// Method is a payment method (interface §2.2). It is an open set: a value not named
// here passes through unchanged.
type Method string

// Methods seen in live deployments. A gift voucher that failed arrives as a
// completed payment of amount 0: check Payment.PaidAmount, never the method alone.
const (
	MethodDeposit Method = "DEPOSIT" // bank transfer
	MethodCulture Method = "CULTURE" // gift voucher
)
