package mutants_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// chosen is the environment variable that names the mutant that a program runs with.
const chosen = "DEPOSITPAY_MUTANT"

// choice is what a package with several mutants gets as a file of its own.
const choice = `package %s

import "os"

var mutantChosen = os.Getenv("` + chosen + `")

func mutantValue[T any](name string, broken, whole T) T {
	if mutantChosen == name {
		return broken
	}
	return whole
}
`

// source is a file of Go that gets several mutants at once, each to be chosen at run time.
type source struct {
	code string
	file *ast.File
	base int
	// mutants are those of each top-level function and each constant or variable.
	mutants map[ast.Node][]*mutant
}

func parse(code string) (*source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", code, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{code, file, set.File(file.Pos()).Base(), map[ast.Node][]*mutant{}}, nil
}

// add reports whether m can be chosen at run time: whether it breaks the body of a function
// or the value of one constant or variable.
func (s *source) add(m *mutant) bool {
	at := strings.Index(s.code, m.from)
	within := func(n ast.Node) bool { return s.offset(n.Pos()) <= at && at+len(m.from) <= s.offset(n.End()) }
	for _, decl := range s.file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Body != nil && within(decl.Body) && !recovers(decl) {
				s.mutants[decl] = append(s.mutants[decl], m)
				return true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 && within(v.Values[0]) {
					s.mutants[v] = append(s.mutants[v], m)
					return true
				}
			}
		}
	}
	return false
}

// recovers reports whether f itself calls recover, which works only in a deferred function.
func recovers(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && name.Name == "recover"
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return found
}

// String returns the code with all mutants.
func (s *source) String() string {
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	values := ""
	for node, mutants := range s.mutants {
		to := s.offset(node.End())
		switch node := node.(type) {
		case *ast.FuncDecl:
			edits = append(edits, edit{s.offset(node.Type.Pos()), to, s.function(node, mutants)})
		case *ast.ValueSpec:
			values += s.value(node, mutants)
			edits = append(edits, edit{s.offset(node.Names[0].Pos()), to, "_ = 0"})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	code := s.code
	for _, e := range edits {
		code = code[:e.from] + e.text + code[e.to:]
	}
	return code + values
}

// function returns f as it is and with each mutant, under names of their own, and under
// its own name a function that calls the chosen one.
func (s *source) function(f *ast.FuncDecl, mutants []*mutant) string {
	signature, call := s.signature(f)
	whole := s.text(f)[f.Type.Pos()-f.Pos():]
	name := f.Name.End() - f.Type.Pos()
	cases, copies := "", whole[:name]+"Whole"+whole[name:]
	for _, m := range mutants {
		cases += fmt.Sprintf("case %q:\n"+call+"\n", m.id(), m.id())
		broken := strings.Replace(whole, m.from, m.to, 1)
		copies += "\n\n" + broken[:name] + m.id() + broken[name:]
	}
	return signature + " {\nswitch mutantChosen {\n" + cases + "default:\n" + fmt.Sprintf(call, "Whole") + "\n}\n}\n\n" + copies + "\n"
}

// signature returns f's head with names for all it is given, and the format of a call that
// passes them on, which lacks the end of the called function's name.
func (s *source) signature(f *ast.FuncDecl) (head, call string) {
	head, call = "func ", f.Name.Name+"%s("
	if f.Recv != nil {
		head += "(mutantReceiver " + s.text(f.Recv.List[0].Type) + ") "
		call = "mutantReceiver." + call
	}
	head += f.Name.Name
	if f.Type.TypeParams != nil {
		head += s.text(f.Type.TypeParams) // the call infers them
	}
	var params []string
	for _, field := range f.Type.Params.List {
		for range max(len(field.Names), 1) {
			name := fmt.Sprintf("mutantArg%d", len(params))
			params = append(params, name+" "+s.text(field.Type))
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				name += "..."
			}
			call += name + ", "
		}
	}
	head += "(" + strings.Join(params, ", ") + ") "
	if f.Type.Results != nil {
		head += s.text(f.Type.Results)
		call = "return " + call
	}
	return head, call + ")"
}

// value returns the constant or variable v as a variable whose value is chosen.
func (s *source) value(v *ast.ValueSpec, mutants []*mutant) string {
	kind := ""
	if v.Type != nil {
		kind = "[" + s.text(v.Type) + "]"
	}
	as := s.text(v.Values[0])
	text := as
	for _, m := range mutants {
		text = fmt.Sprintf("mutantValue%s(%q,\n%s,\n%s)", kind, m.id(), strings.Replace(as, m.from, m.to, 1), text)
	}
	return "\nvar " + v.Names[0].Name + " = " + text + "\n"
}

func (s *source) text(n ast.Node) string { return s.code[s.offset(n.Pos()):s.offset(n.End())] }

func (s *source) offset(p token.Pos) int { return int(p) - s.base }
