package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
)

// Limits of a message. Its content is a source file at most, every byte of which may be escaped as \u00xx.
const (
	maxHeaderBytes  = 4096
	maxContentBytes = 6*syntax.MaxSourceBytes + 1<<16
)

// badFrame is a message that cannot be used, behind which the next one can be read.
type badFrame struct{ what string }

func (b *badFrame) Error() string { return b.what }

// frames reads and writes messages as the base protocol of LSP 3.17 frames them: header lines, an empty line, and Content-Length bytes of JSON.
type frames struct {
	in  *bufio.Reader
	out io.Writer
}

// read gives the next message's content. The error is io.EOF at the end between messages, a *badFrame, or one that ends the session.
func (f *frames) read() ([]byte, error) {
	length, problem := int64(-1), ""
	for total := 0; ; {
		line, err := f.in.ReadSlice('\n')
		total += len(line)
		switch {
		case err == io.EOF && total == 0:
			return nil, io.EOF
		case errors.Is(err, bufio.ErrBufferFull), total > maxHeaderBytes:
			return nil, &formats.Error{Class: formats.Limit, Place: "standard input", What: "the header of a message is too long", Expected: "Content-Length: N and an empty line"}
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			problem = fmt.Sprintf("a header line has no colon: %.40q", text)
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || length < 0 {
				length, problem = -1, fmt.Sprintf("Content-Length is no number: %.40q", text)
			}
		}
	}
	switch {
	case length < 0 && problem == "":
		return nil, &badFrame{"the message has no Content-Length"}
	case length < 0:
		return nil, &badFrame{problem}
	case length > maxContentBytes:
		if _, err := io.CopyN(io.Discard, f.in, length); err != nil {
			return nil, unexpected(err)
		}
		return nil, &badFrame{fmt.Sprintf("the message has %d bytes, at most %d are read", length, maxContentBytes)}
	}
	content, err := io.ReadAll(io.LimitReader(f.in, length))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) < length {
		return nil, io.ErrUnexpectedEOF
	}
	if problem != "" {
		return nil, &badFrame{problem}
	}
	return content, nil
}

// unexpected is the error of input that ends within a message.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// write sends a message.
func (f *frames) write(v any) error {
	var content bytes.Buffer
	e := json.NewEncoder(&content)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := f.out.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", content.Len()), content.Bytes()...))
	return err
}

// message is a request, a notification, or a response of the client. ID is nil for a notification.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// decode reads a message's content. The failure names the code that JSON-RPC has for it.
func decode(content []byte) (*message, *failure) {
	if !json.Valid(content) {
		return nil, &failure{parseError, "the message is no JSON"}
	}
	m := &message{}
	if err := json.Unmarshal(content, m); err != nil {
		return nil, &failure{invalidRequest, "the message is no JSON-RPC object: " + err.Error()}
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	switch {
	case m.Version != "2.0":
		return nil, &failure{invalidRequest, `jsonrpc is not "2.0"`}
	case m.ID != nil && m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9'):
		return nil, &failure{invalidRequest, "id is neither a number nor a string"}
	case m.ID == nil && m.Method == "":
		return nil, &failure{invalidRequest, "the message has no method"}
	}
	return m, nil
}

// The codes of JSON-RPC and LSP.
const (
	parseError           = -32700
	invalidRequest       = -32600
	methodNotFound       = -32601
	invalidParams        = -32602
	internalError        = -32603
	serverNotInitialized = -32002
	requestFailed        = -32803
)

// failure is the error of a response.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// response answers a request; a failure that belongs to none has the id null.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

type errorResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *failure        `json:"error"`
}

type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}
