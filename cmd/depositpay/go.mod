module github.com/depositpay/depositpay-go/cmd/depositpay

go 1.26.0

require (
	github.com/depositpay/depositpay-go v0.1.0
	github.com/stretchr/testify v1.12.1
	github.com/urfave/cli/v3 v3.14.0
	go.uber.org/goleak v1.2.0
)

require (
	github.com/google/uuid v1.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
