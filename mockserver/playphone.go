package mockserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

// playPhone uploads a notification as the phone would, past the socket, and returns what
// became of it: without an ID if the service has ignored it. An [*Error] says what was
// refused; any other error means that the response was lost.
//
// The answer is in the dialect of the first application. So it is only asked whether it
// is an error; what was kept is found by the notification's own id.
func playPhone(s *Server, n Notification) (Notification, error) {
	id := uuid.NewString()
	fields := map[string]string{"package": n.Package, "title": n.Title, "text": n.Text, "notification_id": id}
	if n.Subtitle != "" {
		fields["subtitle"] = n.Subtitle
	}
	answer, err := post(s, "/mobile/deposit", fields)
	if err != nil {
		return Notification{}, fmt.Errorf("mockserver: the answer to the notification was lost; look at Notifications: %w", err)
	}
	if code, message := errorIn(answer); code != "" {
		return Notification{}, &Error{Code: Code(code), Message: message}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.phone.seen[repeatKey{id: n.Package + "\x00" + id}]; u != nil {
		return u.Notification, nil
	}
	return Notification{}, nil
}

// post sends one request past the socket, like any client's, and returns the answer.
func post(s *Server, path string, body any) ([]byte, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL()+path, bytes.NewReader(marshal(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.Transport().RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it is in memory
	answer, err := io.ReadAll(resp.Body)
	if err == nil && !json.Valid(answer) {
		err = errors.New("it is no JSON")
	}
	return answer, err
}

// errorIn is the error of an answer in any dialect, "" for a success.
func errorIn(answer []byte) (code, message string) {
	o, problem := parseObject(answer)
	if problem != nil {
		return "", ""
	}
	raw, isObject := o.Get("error")
	if isObject = isObject && raw[0] == '{'; isObject {
		if o, problem = splitObject(raw); problem != nil {
			return "", ""
		}
	}
	for _, name := range [...]string{"error", "code"} {
		if raw, ok := o.Get(name); ok && code == "" {
			code, _ = strictjson.DecodeString(raw)
		}
	}
	for _, name := range [...]string{"error_msg", "message"} {
		if raw, ok := o.Get(name); ok && message == "" {
			message, _ = strictjson.DecodeString(raw)
		}
	}
	return code, message
}
