package cli

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/compress/solidity"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

type exportResult struct {
	Schema       string        `json:"schema"`
	File         string        `json:"file"`
	Contract     string        `json:"contract"`
	Bytes        int           `json:"bytes"`
	Key          rootKeyObject `json:"key"`
	CalldataFile string        `json:"calldata_file,omitempty"`
	Calldata     int           `json:"calldata_bytes,omitempty"`
}

func (r *exportResult) text(w io.Writer) {
	fmt.Fprintf(w, "wrote    %s, contract %s, %d bytes\n", r.File, r.Contract, r.Bytes)
	if r.CalldataFile != "" {
		fmt.Fprintf(w, "wrote    %s, the call verify(claims, proof), %d bytes in hexadecimal\n", r.CalldataFile, r.Calldata)
	}
	r.Key.lines(w)
	if r.Key.Bits < verifier.DefaultMinBits {
		fmt.Fprintf(w, "Insecure: %d bits are proven of the batch proofs that the contract accepts, fewer than %d.\n", r.Key.Bits, verifier.DefaultMinBits)
	}
}

func prepareExportSolidity(f *pflag.FlagSet) action {
	var k keyFlags
	k.declare(f)
	out := f.StringP("output", "o", "", "write the contract to `FILE`; its name with .sol if not given")
	call := f.String("calldata", "", "write the call that checks the proof to `FILE`, in hexadecimal")
	return func(t *tool) (result, error) {
		var root *formats.Root
		var key *snark.Key
		if k.file == "" || *call != "" || t.operand != "" {
			path := cmp.Or(t.operand, rootName(formats.BackendPlonk))
			data, err := t.read(path, formats.MaxRootBytes)
			if err != nil {
				if f := new(failure); errors.As(err, &f) && t.operand == "" {
					f.Next = "ixprove compress-root makes a compressed proof; --key FILE exports for a key alone"
				}
				return nil, err
			}
			v, err := t.verifyRoot(path, data, &k, snark.Policy{Insecure: true, AllowInsecureSetup: true}, "", nil)
			if err != nil {
				return nil, err
			}
			root, key = v.root, v.key
		} else {
			var err error
			if key, err = k.chooseRoot(t, formats.Digest{}); err != nil {
				return nil, err
			}
		}
		source, err := solidity.Export(key)
		if err != nil {
			return nil, err
		}
		r := &exportResult{Schema: "ixprove/export-solidity/1", Contract: solidity.ContractName(key), Bytes: len(source), Key: newRootKeyObject(key)}
		r.File = cmp.Or(*out, r.Contract+".sol")
		inputs := []string{cmp.Or(t.operand, rootName(formats.BackendPlonk)), k.file}
		if err := t.writable(r.File, inputs...); err != nil {
			return nil, err
		}
		if *call != "" {
			data, err := solidity.Calldata(key, root)
			if err != nil {
				return nil, err
			}
			if err := t.writable(*call, inputs...); err != nil {
				return nil, err
			}
			r.CalldataFile, r.Calldata = *call, len(data)
			if err := t.write(*call, []byte(hex.EncodeToString(data)+"\n")); err != nil {
				return nil, err
			}
		}
		return r, t.write(r.File, []byte(source))
	}
}
