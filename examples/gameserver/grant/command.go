package grant

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Command is a console command with typed placeholders, such as "give {account} {item}".
// It is checked once, by ParseCommand; what players type can never become a part of it.
type Command struct {
	words []string // literals at even places, names of placeholders at odd ones
}

// placeholders are what may stand in a command, with what each may be filled with. None
// admits a space, a quote, a line break or a separator of commands.
var placeholders = map[string]struct {
	value   func(Delivery) string
	pattern *regexp.Regexp
}{
	"account": {func(d Delivery) string { return d.Account }, regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)},
	"item":    {func(d Delivery) string { return d.Item }, itemPattern},
	"key":     {func(d Delivery) string { return d.Key }, regexp.MustCompile(`^[0-9a-f-]{36}:[0-9]+:[0-9]+$`)},
	"payment": {func(d Delivery) string { return d.Payment.String() }, regexp.MustCompile(`^[0-9a-f-]{36}$`)},
	"slots":   {func(d Delivery) string { return strconv.Itoa(d.Slots) }, regexp.MustCompile(`^[0-9]{1,4}$`)},
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// maxCommand is what RCON servers take at most.
const maxCommand = 1000

// ParseCommand reads a command: its placeholders are {account}, {item}, {key}, {payment}
// and {slots}. Errors name the one that does not exist. Braces for other things are refused.
func ParseCommand(text string) (Command, error) {
	var c Command
	rest := text
	for {
		at := placeholder.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		name := rest[at[2]:at[3]]
		if _, known := placeholders[name]; !known {
			return Command{}, fmt.Errorf("grant: command %q: there is no placeholder {%s}: use {account}, {item}, {key}, {payment}, {slots}", text, name)
		}
		c.words = append(c.words, rest[:at[0]], name)
		rest = rest[at[1]:]
	}
	c.words = append(c.words, rest)
	switch {
	case strings.TrimSpace(text) == "" || len(text) > maxCommand/2:
		return Command{}, fmt.Errorf("grant: command %q: it has 1 to %d bytes", text, maxCommand/2)
	case strings.ContainsFunc(text, unicode.IsControl) || strings.ContainsAny(strings.Join(literals(c.words), ""), "{}"):
		return Command{}, fmt.Errorf("grant: command %q: control characters and single braces are not taken", text)
	}
	return c, nil
}

func literals(words []string) (found []string) {
	for i := 0; i < len(words); i += 2 {
		found = append(found, words[i])
	}
	return found
}

// errPlaceholder says that a value may not stand in a command.
var errPlaceholder = errors.New("it may not stand in a command")

// fill is the command for a unit. What does not look like its type is refused, never
// escaped.
func (c Command) fill(d Delivery) (string, error) {
	var line strings.Builder
	for i, word := range c.words {
		if i%2 == 0 {
			line.WriteString(word)
			continue
		}
		p := placeholders[word]
		value := p.value(d)
		if !p.pattern.MatchString(value) {
			return "", fmt.Errorf("grant: {%s} is %q: %w", word, value, errPlaceholder)
		}
		line.WriteString(value)
	}
	if line.Len() > maxCommand {
		return "", fmt.Errorf("grant: the command for %s has more than %d bytes: %w", d.Key, maxCommand, errPlaceholder)
	}
	return line.String(), nil
}
