package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// asProgram makes the test binary the program itself.
const asProgram = "IXPROVE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A signal ends a proof with code 6 and leaves nothing behind.
func TestSignalLeavesNoFile(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		folder := t.TempDir()
		for name, content := range map[string][]byte{
			"claims.json": []byte(`{"format":"ixprove-claims/1","system":"blake3","claims":[{"entry":"blake3","file":"data"}]}`),
			"data":        bytes.Repeat([]byte("a file that takes some time to prove"), 2000),
		} {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		program := exec.Command(os.Args[0], "prove", "--progress=json")
		program.Dir = folder
		program.Env = append(os.Environ(), asProgram+"=1")
		stderr, err := program.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		if !lines.Scan() { // it is proving
			t.Fatal("no progress")
		}
		if err := program.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		last := ""
		for lines.Scan() {
			last = lines.Text()
		}
		program.Wait()
		if code := program.ProcessState.ExitCode(); code != 6 {
			t.Errorf("%v: exit %d, %s", signal, code, last)
		}
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) != 2 {
			t.Errorf("%v left %v (%v)", signal, entries, err)
		}
	}
}

// An interrupt is how a server is meant to end.
func TestSignalEndsServer(t *testing.T) {
	program := exec.Command(os.Args[0], "serve")
	program.Env = append(os.Environ(), asProgram+"=1")
	stderr, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(stderr).Scan() { // it is serving
		t.Fatal("no address")
	}
	if err := program.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}
