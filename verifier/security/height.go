package security

// group gathers the tables of one height: what one roll-in brings into FRI.
type group struct {
	logHeight   int
	columns     int64 // summed over tables, as one challenge batches them
	mainColumns int   // the largest of a table, as are the following
	constraints int
	degree      int
	points      int
}

// groupByHeight returns the heights present, tallest first. Log heights are at most TwoAdicity.
func groupByHeight(tables []Table) []group {
	var byHeight [TwoAdicity + 1]group
	for _, t := range tables {
		g := &byHeight[t.LogHeight]
		g.logHeight = t.LogHeight
		g.columns += int64(t.Columns)
		g.mainColumns = max(g.mainColumns, t.MainColumns)
		g.constraints = max(g.constraints, t.Constraints)
		g.degree = max(g.degree, t.MaxDegree)
		g.points = max(g.points, t.Points)
	}
	var groups []group
	for h := TwoAdicity; h >= 0; h-- {
		if byHeight[h].columns > 0 {
			groups = append(groups, byHeight[h])
		}
	}
	return groups
}

// fold is one FRI round: by 2^logArity down to dimension 2^logDimension, combining so many functions with powers of one
// challenge (the arity, and one more where a height rolls in).
type fold struct{ logArity, logDimension, functions int }

// schedule lists the folds from the tallest height to the final length. They stop at every height present; the way between
// two stops is cut into as few folds as the arity allows, as even as possible, larger first.
func schedule(groups []group, maxLogArity, logFinal int) []fold {
	var folds []fold
	at := groups[0].logHeight
	descend := func(to, rollIn int) {
		for way := at - to; way > 0; way = at - to {
			steps := (way + maxLogArity - 1) / maxLogArity
			logArity := (way + steps - 1) / steps
			at -= logArity
			f := fold{logArity, at, 1 << logArity}
			if at == to {
				f.functions += rollIn
			}
			folds = append(folds, f)
		}
	}
	for _, g := range groups[1:] {
		descend(g.logHeight, 1)
	}
	descend(min(logFinal, at), 0)
	return folds
}
