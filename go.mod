module github.com/ixprove/ixprove

go 1.26
