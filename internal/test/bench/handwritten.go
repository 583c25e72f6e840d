//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// handwritten is what a careful merchant would write without the SDK: net/http and
// encoding/json, the same requests, the same fields read, a timeout, the status and
// the error looked at, the body drained.
type handwritten struct {
	http  *http.Client
	base  string
	token string
}

type rawItem struct {
	Name  string `json:"name"`
	Price int64  `json:"price"`
	Count int64  `json:"count,omitempty"`
}

type rawCreate struct {
	Token      string    `json:"token"`
	Title      string    `json:"title"`
	Identifier string    `json:"identifier"`
	Amount     int64     `json:"amount,omitempty"`
	Items      []rawItem `json:"items,omitempty"`
}

type rawRecord struct {
	Error      *string   `json:"error"`
	ErrorMsg   string    `json:"error_msg"`
	ID         string    `json:"id"`
	Identifier string    `json:"identifier"`
	Status     string    `json:"status"`
	Method     string    `json:"method"`
	PaidAmount int64     `json:"paid_amount"`
	VerifiedTS time.Time `json:"verified_ts"`
	Metadata   struct {
		Items []rawItem `json:"items"`
	} `json:"metadata"`
}

func (h *handwritten) create() error {
	var out struct {
		Error    *string `json:"error"`
		PayToken string  `json:"payToken"`
	}
	body, err := json.Marshal(rawCreate{
		Token: h.token, Title: "Sword", Identifier: "order-1", Amount: 10000,
		Items: []rawItem{{"Sword", 7000, 1}, {"Potion", 1500, 2}},
	})
	if err != nil {
		return err
	}
	if err := h.do(http.MethodPost, "/payments", body, &out); err != nil {
		return err
	}
	if out.Error != nil || out.PayToken == "" {
		return fmt.Errorf("create: %+v", out)
	}
	return nil
}

func (h *handwritten) confirm() error {
	body, err := json.Marshal(struct {
		Token    string `json:"token"`
		PayToken string `json:"payToken"`
	}{h.token, benchID.String()})
	if err != nil {
		return err
	}
	return h.record(http.MethodPost, "/payments/confirm", body)
}

func (h *handwritten) next() error {
	return h.record(http.MethodGet, "/callback/rest?token="+url.QueryEscape(h.token), nil)
}

func (h *handwritten) record(method, path string, body []byte) error {
	var out rawRecord
	if err := h.do(method, path, body, &out); err != nil {
		return err
	}
	if out.Error != nil || out.ID == "" {
		return fmt.Errorf("record: %+v", out)
	}
	return nil
}

func (h *handwritten) do(method, path string, body []byte, out any) error {
	var in io.Reader
	if body != nil {
		in = bytes.NewReader(body)
	}
	req, err := http.NewRequest(method, h.base+path, in) //nolint:noctx // as hand-written code has it
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "shop")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := h.http.Do(req)
	if err != nil {
		return err
	}
	defer func() {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}
