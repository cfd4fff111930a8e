package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/driver"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cuda"
)

// cards is what the program knows of CUDA devices.
type cards interface {
	built() bool // whether this build has CUDA support
	list() ([]kernels.Info, error)
	open(index int) (kernels.Driver, error)
	check(index int) error // that the device's driver takes all kernels
}

type realCards struct{}

func (realCards) built() bool                            { return driver.Built }
func (realCards) list() ([]kernels.Info, error)          { return driver.Devices() }
func (realCards) open(index int) (kernels.Driver, error) { return driver.NewDriver(index) }
func (realCards) check(index int) error                  { return driver.Check(index) }

// deviceFailure is a device's error as the command line tells it.
func deviceFailure(place string, e *kernels.Error) *failure {
	d := detail{Place: place, What: e.Place + ": " + e.Kind.String() + ": " + e.What, Next: e.Next}
	if e.Err != nil {
		d.Got = e.Err.Error()
	}
	if d.Next == "" {
		d.Next = "see ixprove devices and docs/gpu.md"
	}
	return &failure{exitResource, classDevice, d}
}

// withoutCUDA is the refusal of --gpu in a build that has no CUDA support.
func withoutCUDA(gpu string) error {
	return &failure{exitResource, classDevice, detail{Place: "--gpu", What: "this build has no CUDA support", Expected: "a build with it", Got: "--gpu " + gpu,
		Next: "leave --gpu out to prove on the CPU"}}
}

// chosen finds the devices that --gpu names: numbers, or UUIDs or their beginnings, separated by commas.
func chosen(c cards, gpu string) ([]kernels.Info, error) {
	infos, err := c.list()
	if err != nil {
		return nil, err
	}
	var out []kernels.Info
	for _, name := range strings.Split(gpu, ",") {
		var found []kernels.Info
		index, err := strconv.Atoi(name)
		for _, info := range infos {
			if err == nil && info.Index == index || err != nil && len(name) > len("GPU-") && strings.HasPrefix(info.UUID, name) {
				found = append(found, info)
			}
		}
		if len(found) != 1 {
			var names []string
			for _, info := range infos {
				names = append(names, fmt.Sprintf("%d (%s)", info.Index, info.UUID))
			}
			what := "there is no such device"
			if len(found) > 1 {
				what = "this names several devices"
			}
			return nil, &failure{exitResource, classDevice, detail{Place: "--gpu", What: what, Expected: strings.Join(names, ", "), Got: strconv.Quote(name),
				Next: "ixprove devices lists them; CUDA_VISIBLE_DEVICES hides and renumbers devices, a UUID stays"}}
		}
		out = append(out, found[0])
	}
	return out, nil
}

// machine is where a proof is to be made, and what it may take there.
type machine struct {
	flag      string        // that sets the budget
	device    *kernels.Info // nil for the CPU, and for a plan for a device that is not there
	gpu       bool
	budget    prover.Bytes // 0 for none
	automatic bool         // whether the batch may be cut into more shards
}

// assumedProcessors stands for those of a device that is not there: more than any has, for the memory of a few kernels grows with them.
const assumedProcessors = 192

// memory is the model of a proof there.
func (m *machine) memory(j prover.Job) *prover.Memory {
	processors := assumedProcessors
	if m.device != nil {
		processors = m.device.Processors
	}
	return &prover.DeviceMemory(j, processors).Memory
}

// machines lists where a proof may be made, in the order in which that is to be tried.
func (p *proveFlags) machines(t *tool, f *pflag.FlagSet) ([]machine, error) {
	if !f.Changed("gpu") {
		if p.vram != 0 {
			return nil, usageError("--vram", "this is the memory of a device", "--gpu with it", "no --gpu", "--memory limits what the CPU takes")
		}
		return []machine{{flag: "--memory", budget: prover.Bytes(p.memory)}}, nil
	}
	if p.memory != 0 {
		return nil, usageError("--memory", "this limits what the CPU takes", "--vram with --gpu", "--memory and --gpu", "")
	}
	vram := prover.Bytes(p.vram)
	m := machine{flag: "--vram", gpu: true, budget: vram, automatic: *p.shards == ""}
	if *p.plan && vram > 0 {
		return []machine{m}, nil
	}
	if !t.cards.built() {
		return nil, withoutCUDA(*p.gpu)
	}
	infos, err := chosen(t.cards, *p.gpu)
	if err != nil {
		return nil, err
	}
	var out []machine
	for i := range infos {
		m.device, m.budget = &infos[i], vram
		switch {
		case vram == 0:
			m.budget = cuda.DefaultBudget(infos[i].MemoryBytes)
		case int64(vram) > infos[i].MemoryBytes:
			return nil, &failure{exitResource, classMemory, detail{Place: "--vram", What: "the device has less memory", Expected: "at most " + bytesText(prover.Bytes(infos[i].MemoryBytes)),
				Got: bytesText(vram), Next: "leave --vram out for 90% of the device's memory"}}
		}
		out = append(out, m)
	}
	return out, nil
}

type devicesResult struct {
	Schema  string         `json:"schema"`
	Devices []deviceObject `json:"devices"`
}

// deviceObject is a device as JSON.
type deviceObject struct {
	Index      int    `json:"index"`
	Name       string `json:"name"`
	UUID       string `json:"uuid"`
	Memory     int64  `json:"memory_bytes"`
	Driver     string `json:"driver"`     // version of the CUDA interface
	Capability string `json:"capability"` // compute capability
	Kernels    string `json:"kernels"`    // "load", or why they do not
}

func newDeviceObject(i kernels.Info) deviceObject {
	return deviceObject{Index: i.Index, Name: i.Name, UUID: i.UUID, Memory: i.MemoryBytes, Driver: fmt.Sprintf("%d.%d", i.DriverVersion/1000, i.DriverVersion%1000/10),
		Capability: fmt.Sprintf("%d.%d", i.Major, i.Minor)}
}

func (r *devicesResult) text(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "index\tname\tmemory\tCUDA\tcapability\tkernels\tUUID\n")
	for _, d := range r.Devices {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", d.Index, d.Name, bytesText(prover.Bytes(d.Memory)), d.Driver, d.Capability, d.Kernels, d.UUID)
	}
	t.Flush()
}

func prepareDevices(*pflag.FlagSet) action {
	return func(t *tool) (result, error) {
		infos, err := t.cards.list()
		if err != nil {
			return nil, err
		}
		r := &devicesResult{Schema: "ixprove/devices/1"}
		for _, info := range infos {
			d := newDeviceObject(info)
			d.Kernels = "load"
			if err := t.cards.check(info.Index); err != nil {
				var e *kernels.Error
				if !errors.As(err, &e) {
					return nil, err
				}
				d.Kernels = e.What
			}
			r.Devices = append(r.Devices, d)
		}
		return r, nil
	}
}
