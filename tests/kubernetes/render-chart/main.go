// Renders the templates of a chart as Helm does, with the functions that ours use. It reads one JSON object from standard input,
// {"directory", "root"}, and writes {"file": "text"}. Numbers are floats in it, as they are in Helm.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"text/template"
)

func main() {
	var input struct {
		Directory string
		Root      map[string]any
	}
	check(json.NewDecoder(os.Stdin).Decode(&input))
	files, err := filepath.Glob(filepath.Join(input.Directory, "*"))
	check(err)
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions(root))
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = root.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	rendered := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var out strings.Builder
		check(root.ExecuteTemplate(&out, name, input.Root))
		rendered[name] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func functions(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"fail": func(message string) (string, error) { return "", errors.New(message) },
		"required": func(message string, value any) (any, error) {
			if isEmpty(value) {
				return nil, errors.New(message)
			}
			return value, nil
		},
		"default": func(fallback any, value ...any) any {
			if len(value) == 0 || isEmpty(value[0]) {
				return fallback
			}
			return value[0]
		},
		"ternary": func(yes, no any, which bool) any {
			if which {
				return yes
			}
			return no
		},
		"toYaml":     func(value any) string { return strings.TrimSuffix(toYaml(value, ""), "\n") },
		"toJson":     toJson,
		"fromYaml":   fromLabels,
		"indent":     indent,
		"nindent":    func(spaces int, text string) string { return "\n" + indent(spaces, text) },
		"quote":      func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"b64enc":     func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
		"sha256sum":  func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) },
		"trunc":      func(length int, text string) string { return text[:min(length, len(text))] },
		"trimSuffix": func(suffix, text string) string { return strings.TrimSuffix(text, suffix) },
		"list":       func(values ...any) []any { return values },
		"dict": func(pairs ...any) map[string]any {
			made := map[string]any{}
			for index := 0; index+1 < len(pairs); index += 2 {
				made[fmt.Sprint(pairs[index])] = pairs[index+1]
			}
			return made
		},
		"merge": func(into map[string]any, from map[string]any) map[string]any {
			for name, value := range from {
				if _, has := into[name]; !has {
					into[name] = value
				}
			}
			return into
		},
		"hasKey":       func(of map[string]any, name string) bool { _, has := of[name]; return has },
		"kindIs":       func(kind string, value any) bool { return value != nil && reflect.TypeOf(value).Kind().String() == kind },
		"floor":        func(value any) float64 { number, _ := value.(float64); return math.Floor(number) },
		"int":          func(value any) int { number, _ := value.(float64); return int(number) },
		"toString":     func(value any) string { return fmt.Sprint(value) },
		"lookup":       func(...string) map[string]any { return map[string]any{} },
		"randAlphaNum": func(length int) string { return strings.Repeat("x", length) },
	}
}

func isEmpty(value any) bool {
	truth, _ := template.IsTrue(value)
	return !truth
}

func toJson(value any) string {
	text, err := json.Marshal(value)
	check(err)
	return string(text)
}

func toYaml(value any, prefix string) string {
	switch of := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(of))
		for name := range of {
			names = append(names, name)
		}
		sort.Strings(names)
		var out strings.Builder
		for _, name := range names {
			out.WriteString(prefix + toJson(name) + ":" + below(of[name], prefix))
		}
		if len(names) == 0 {
			return prefix + "{}\n"
		}
		return out.String()
	case []any:
		var out strings.Builder
		for _, item := range of {
			out.WriteString(prefix + "- " + toJson(item) + "\n")
		}
		if len(of) == 0 {
			return prefix + "[]\n"
		}
		return out.String()
	default:
		return prefix + toJson(value) + "\n"
	}
}

func below(value any, prefix string) string {
	if !isEmpty(value) {
		switch value.(type) {
		case map[string]any, []any:
			return "\n" + toYaml(value, prefix+"  ")
		}
	}
	return " " + toJson(value) + "\n"
}

func indent(spaces int, text string) string {
	space := strings.Repeat(" ", spaces)
	return space + strings.ReplaceAll(text, "\n", "\n"+space)
}

// fromLabels reads lines of `name: value`.
func fromLabels(text string) map[string]any {
	made := map[string]any{}
	for _, line := range strings.Split(text, "\n") {
		if name, value, found := strings.Cut(line, ": "); found {
			made[name] = value
		}
	}
	return made
}
