// Receives events in Go 1.21 or later. One file, the standard library alone: take Verify, or all of it.
//
//	WEBHOOK_SECRET=whsec_… go run receiver.go                                      listens on PORT (8787)
//	WEBHOOK_SECRET=whsec_… go run receiver.go check HEADERS BODY [UNIX_SECONDS]    judges a request saved in two files
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	toleranceSeconds = 300
	bodyMaxBytes     = 1_000_000
)

func isRecent(t string, now int64) bool {
	seconds, err := strconv.ParseUint(t, 10, 53)
	return err == nil && now-int64(seconds) <= toleranceSeconds && int64(seconds)-now <= toleranceSeconds
}

func digest(key []byte, prefix string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(prefix))
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify judges X-Service-Signature. The body is the bytes that came in, before anything parses them; the secret is the
// whole `whsec_…`.
func Verify(secret, header string, body []byte, now int64) bool {
	var t string
	var v1 []string
	for _, piece := range strings.Split(header, ",") {
		switch name, value, _ := strings.Cut(piece, "="); {
		case name == "t" && t == "":
			t = value
		case name == "v1":
			v1 = append(v1, value)
		}
	}
	expected := []byte(hex.EncodeToString(digest([]byte(secret), t+".", body)))
	for _, value := range v1 { // while a secret is being replaced there are two v1: any of them will do
		if hmac.Equal([]byte(value), expected) {
			return isRecent(t, now)
		}
	}
	return false
}

// VerifyStandard is the same for Standard Webhooks, keyed by the bytes that the secret stands for. The module
// github.com/standard-webhooks/standard-webhooks/libraries/go does it too: wh.Verify(body, r.Header).
func VerifyStandard(secret string, headers http.Header, body []byte, now int64) bool {
	id, t := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(digest(key, id+"."+t+".", body)))
	for _, value := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(value), expected) {
			return isRecent(t, now)
		}
	}
	return false
}

type receiver struct {
	secret string
	mu     sync.Mutex
	seen   map[string]bool // of yours: a unique column
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, bodyMaxBytes))
	if err != nil || !Verify(r.secret, request.Header.Get("X-Service-Signature"), body, time.Now().Unix()) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var event struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Sequence int64  `json:"sequence"`
	}
	if json.Unmarshal(body, &event) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.seen[event.ID] { // answer soon, work later; an event may come twice, and a later one before an earlier one
		fmt.Printf("event %d %s %s\n", event.Sequence, event.Type, event.ID)
	}
	r.seen[event.ID] = true
	w.WriteHeader(http.StatusNoContent)
}

// headersOf reads a file of `Name: value` lines.
func headersOf(file string) http.Header {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	headers := http.Header{}
	for _, line := range strings.Split(string(text), "\n") {
		if name, value, found := strings.Cut(line, ":"); found {
			headers.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return headers
}

func word(valid bool) string {
	if valid {
		return "valid"
	}
	return "invalid"
}

func check(secret string, args []string) int {
	if len(args) < 2 {
		log.Fatal("usage: check HEADERS BODY [UNIX_SECONDS]")
	}
	headers, now := headersOf(args[0]), time.Now().Unix()
	body, err := os.ReadFile(args[1])
	if err == nil && len(args) > 2 {
		now, err = strconv.ParseInt(args[2], 10, 64)
	}
	if err != nil {
		log.Fatal(err)
	}
	service := Verify(secret, headers.Get("X-Service-Signature"), body, now)
	standard := VerifyStandard(secret, headers, body, now)
	fmt.Printf("service %s\nstandard %s\n", word(service), word(standard))
	if service && standard {
		return 0
	}
	return 1
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	if len(os.Args) > 1 && os.Args[1] == "check" {
		os.Exit(check(secret, os.Args[2:]))
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8787"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, &receiver{secret: secret, seen: map[string]bool{}}))
}
